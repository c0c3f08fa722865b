"""Which units of a tidied description stay at a level, and why."""

from dataclasses import dataclass, field

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import examples
from caveman_tui.core.shrink.blocks import Block, parse
from caveman_tui.core.shrink.filler import filler_of
from caveman_tui.core.shrink.layout import LineKind
from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.repetition import Earlier
from caveman_tui.core.shrink.restated import Known
from caveman_tui.core.shrink.sections import Section, announces
from caveman_tui.core.shrink.sentences import sentence_ends
from caveman_tui.core.shrink.signals import STRONG, WEAK, is_english, signals_of
from caveman_tui.core.shrink.vocabulary import Signal

_VERBATIM = (LineKind.FENCE, LineKind.CODE, LineKind.TABLE)
_SHORT_LEAD = 25
_LONGEST_LEAD = 4
_SENTENCE_ENDS = ".!?。！？"
_RULES_AMONG_EXAMPLES = frozenset({Signal.PROHIBITION, Signal.EXCLUSIVE, Signal.ONLY, Signal.DEFAULT, Signal.BOUND})
_TERSE = frozenset({Signal.MARKER, Signal.PROHIBITION, Signal.EXCLUSIVE, Signal.ONLY, Signal.DEFAULT, Signal.BOUND})
"""What states a rule: the constraint markers, and what says the same in other words, numbers or languages."""
_DROPPED_SECTIONS = (Section.RETURNS, Section.DIALOGUE)
_OUTWEIGH_RESTATED = frozenset({Signal.PROHIBITION, Signal.EXCLUSIVE, Signal.ONLY, Signal.DEFAULT, Signal.BOUND, Signal.LITERAL})
_OUTWEIGH_BENEFITS = frozenset({Signal.PROHIBITION, Signal.EXCLUSIVE, Signal.ONLY, Signal.DEFAULT, Signal.PREREQUISITE})
_ANNOUNCED = {"return-shape": Section.RETURNS, "marketing": Section.BENEFITS, "rationale": Section.BENEFITS}
"""What the lines below a dropped line with a colon are."""


@dataclass(slots=True)
class Piece:
    """A sentence, or a block that is no prose, with the decision about it."""

    start: int
    end: int
    block: int
    kept: bool = True
    kind: str = "plain"
    why: str = "nothing shows that it can go"
    bare: bool = False
    """Says nothing itself: it goes when everything below it goes."""
    lead: bool = False


@dataclass(slots=True)
class Plan:
    """A tidied description, taken apart and decided on."""

    text: str
    blocks: list[Block]
    pieces: list[Piece]
    dangling: set[int] = field(default_factory=set)
    """Blocks that end with a colon and stay although nothing below them does."""

    def of(self, piece: Piece) -> str:
        """Return the text of a piece."""
        return self.text[piece.start : piece.end].strip()


def plan(text: str, context: ToolContext, level: Level) -> Plan:
    """Take a tidied description apart and decide about every piece of it."""
    made = Plan(text, parse(text), [])
    for index, block in enumerate(made.blocks):
        at = block.start
        ends = [block.end] if block.kind in _VERBATIM else sentence_ends(text, block.start, block.end)
        for end in ends:
            made.pieces.append(Piece(at, end, index))
            at = end
    _mark_lead(made)
    if level is Level.CAREFUL:
        _drop_exact_repetitions(made)
    else:
        _judge(made, context)
        if level is Level.TERSE:
            _keep_rules_only(made)
        _keep_lists_whole(made)
        _settle_heads(made)
    return made


def _mark_lead(made: Plan) -> None:
    """Mark the first sentence, and the headings and fragments that stand before it."""
    for index, piece in enumerate(made.pieces):
        block = made.blocks[piece.block]
        piece.lead = True
        piece.kind, piece.why = "purpose", "the lead"
        text = made.of(piece)
        fragment = len(text) < _SHORT_LEAD and text[-1] not in _SENTENCE_ENDS
        heads = block.kind is LineKind.HEADING or announces(text) or (block.is_head and piece.end == block.end)
        if index >= _LONGEST_LEAD or not (fragment or heads):
            break


def _drop(piece: Piece, kind: str, why: str) -> None:
    piece.kept, piece.kind, piece.why = False, kind, why


def _keep(piece: Piece, kind: str, why: str) -> None:
    piece.kept, piece.kind, piece.why = True, kind, why


def _drop_exact_repetitions(made: Plan) -> None:
    earlier = Earlier()
    for piece in made.pieces:
        block = made.blocks[piece.block]
        text = made.of(piece)
        if block.kind is LineKind.TEXT and not block.is_head and not piece.lead and earlier.repeats_exactly(text):
            _drop(piece, "repetition", "the same words stand above")
        else:
            earlier.add_exact(text)
    _keep_lists_whole(made)


def _keep_rules_only(made: Plan) -> None:
    """Of what the standard level keeps, keep the lead and what states a rule, by a constraint marker or in other words."""
    for piece in made.pieces:
        if piece.kept and not piece.lead and not piece.bare and _TERSE.isdisjoint(signals_of(made.of(piece))):
            _drop(piece, piece.kind, "states no rule")


def _judge(made: Plan, context: ToolContext) -> None:
    earlier = Earlier()
    known = Known(context, " ".join(made.of(piece) for piece in made.pieces if piece.lead))
    waiting: list[Piece] = []
    announced: dict[int, Section] = {}
    for piece in made.pieces:
        block = made.blocks[piece.block]
        text = made.of(piece)
        if block.section is Section.NONE and block.head in announced:
            block.section = announced[block.head]
            announced[piece.block] = block.section
        if not piece.lead:
            if block.kind in _VERBATIM:
                _judge_verbatim(piece, block, text, waiting)
            else:
                _judge_sentence(piece, block, text, context, known, earlier, waiting)
        if piece.kept:
            earlier.add(text)
        elif announces(text) and piece.kind in _ANNOUNCED:
            announced[piece.block] = _ANNOUNCED[piece.kind]
    _judge_examples(made, context, waiting)


def _judge_verbatim(piece: Piece, block: Block, text: str, waiting: list[Piece]) -> None:
    if block.section is Section.RETURNS:
        if block.kind is LineKind.CODE and "(" in text and "\n" not in text:
            _keep(piece, "example", "shows the call")
        else:
            _drop(piece, "return-shape", "shows what comes back")
    elif block.section is Section.DIALOGUE:
        _drop(piece, "dialogue", "example of a conversation")
    elif block.section is Section.EXAMPLES and not (block.kind is LineKind.CODE and examples.is_template(text)):
        waiting.append(piece)
    else:
        _keep(piece, "literal", "a table or code that may be the contract")


def _judge_sentence(
    piece: Piece, block: Block, text: str, context: ToolContext, known: Known, earlier: Earlier, waiting: list[Piece]
) -> None:
    if block.kind is LineKind.HEADING or (block.is_head and block.own_section):
        piece.bare, piece.kind, piece.why = True, "heading", "heads what is below it"
        if announces(text) or block.kind is LineKind.HEADING:
            return
    if earlier.repeats(text):
        _drop(piece, "repetition", "says again what stands above")
        return
    if block.section is Section.DIALOGUE:
        _drop(piece, "dialogue", "example of a conversation")
        return
    signals = signals_of(text)
    if Signal.MARKER in signals:
        _keep(piece, "constraint", "carries a constraint marker")
        piece.bare = False
        return
    if block.section is Section.RETURNS:
        _drop(piece, "return-shape", "describes what comes back")
        return
    if block.section is Section.EXAMPLES:
        if signals & _RULES_AMONG_EXAMPLES:
            _keep(piece, "prohibition", "says a rule among the examples")
        else:
            waiting.append(piece)
        return
    prose = _is_prose(piece, block, text)
    if prose and not signals & _OUTWEIGH_RESTATED and known.holds_all_of(text):
        _drop(piece, "restated-purpose", "says only what the lead and the parameters' names say")
        return
    in_schema = Signal.DEFAULT in signals and known.holds_default(text)
    if in_schema or (block.kind is LineKind.FIELD and block.section is Section.PARAMETERS and known.holds_field(text)):
        _drop(piece, "restated-schema", "says only what the schema says")
        return
    if block.section is Section.BENEFITS and not signals & _OUTWEIGH_BENEFITS:
        _drop(piece, "marketing", "says what it is good for, not how to call it")
        return
    rule = filler_of(text)
    if rule is not None and not signals & rule.unless:
        _drop(piece, rule.kind, rule.why)
        return
    if prose and signals <= WEAK and is_english(text):
        if not context.parameters or known.names_tool_anew(text):
            _keep(piece, "purpose", "may say what the tool is for")
            return
        _drop(piece, "background", "nothing in it bears on choosing or calling")
        return
    if announces(text) and not signals & STRONG:
        piece.bare = True
    strongest = next((signal for signal in Signal if signal in signals), None)
    if strongest is not None:
        _keep(piece, strongest.value, f"shows signs of {strongest.value}")


def _is_prose(piece: Piece, block: Block, text: str) -> bool:
    """Whether a piece is a full sentence that stands for itself: no heading, no item of a list."""
    if text[-1] not in _SENTENCE_ENDS or len(text) < _SHORT_LEAD:
        return False
    return block.kind is LineKind.TEXT or piece.start > block.start or (block.kind is LineKind.FIELD and block.group < 0)


def _judge_examples(made: Plan, context: ToolContext, waiting: list[Piece]) -> None:
    """Drop the examples that show no name and no shape of value which the rest of the text doesn't."""
    if not waiting:
        return
    rest = "\n".join(made.of(piece) for piece in made.pieces if piece.kept and piece not in waiting)
    shapes, known = examples.value_shapes(rest), examples.words(rest) | context.parameters
    for piece in waiting:
        text = made.of(piece)
        new_shapes = examples.value_shapes(text) - shapes
        new_names = (examples.names(text) | examples.bare_values(text, context.parameter)) - known
        if new_shapes or new_names:
            _keep(piece, "format", "the only example of its form")
            shapes |= new_shapes
            known |= new_names
        else:
            _drop(piece, "example", "shows nothing that isn't said elsewhere")


def _keep_lists_whole(made: Plan) -> None:
    """Keep every item of a list of which anything is kept."""
    kept_groups = {made.blocks[piece.block].group for piece in made.pieces if piece.kept}
    kept_blocks = {piece.block for piece in made.pieces if piece.kept}
    for piece in made.pieces:
        block = made.blocks[piece.block]
        if piece.kept or block.group < 0 or block.group not in kept_groups:
            continue
        first = piece.start == block.start
        if first or piece.block not in kept_blocks:
            _keep(piece, piece.kind, "belongs to a list that is kept")


def _settle_heads(made: Plan) -> None:
    """Drop heads with nothing left below, keep what a kept line with a colon announces."""
    blocks = made.blocks
    children: dict[int, list[int]] = {}
    for index, block in enumerate(blocks):
        if block.head >= 0 and block.closes < 0:
            children.setdefault(block.head, []).append(index)
    by_block: dict[int, list[Piece]] = {}
    for piece in made.pieces:
        by_block.setdefault(piece.block, []).append(piece)

    def alive(index: int) -> bool:
        return any(piece.kept for piece in by_block[index])

    for index in range(len(blocks) - 1, -1, -1):
        own, below = by_block[index], children.get(index, [])
        any_below = any(alive(child) for child in below)
        last = own[-1]
        if any_below:
            if not alive(index):
                for piece in own:
                    _keep(piece, "heading", "what is kept stands below it")
            elif not last.kept and announces(made.of(last)):
                _keep(last, "heading", "what is kept stands below it")
            continue
        if not below:
            if blocks[index].kind is LineKind.HEADING and last.bare and not last.lead:
                _drop(last, "heading", "nothing stands below it")
            continue
        if all(piece.bare and not piece.lead for piece in own if piece.kept):
            for piece in own:
                if piece.kept:
                    _drop(piece, "heading", "nothing is left below it")
        elif last.kept and announces(made.of(last)):
            for child in below:
                if blocks[child].section not in _DROPPED_SECTIONS or last.lead:
                    for piece in by_block[child]:
                        _keep(piece, piece.kind, "announced by the line above")
            if not any(alive(child) for child in below):
                made.dangling.add(index)
    for index, block in enumerate(blocks):
        if block.closes >= 0:
            for piece in by_block[index]:
                (_keep if alive(block.closes) else _drop)(piece, "heading", "goes with the tag that it closes")
