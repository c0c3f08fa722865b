"""Two tools with noise and filler to lose, in the shape of Messages."""

from typing import Any

_PATH = {
    "type": "string",
    "title": "Path",
    "description": "The path of the file. Please note that this is a very useful parameter. It must be absolute, such as `/etc/hosts`.",
}
TOOLS: list[Any] = [
    {
        "name": "read_file",
        "description": "This powerful and easy-to-use tool lets you effortlessly read the contents of a file. Reads at most 2000 lines.",
        "input_schema": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "ReadFileArguments",
            "type": "object",
            "properties": {"path": _PATH},
            "required": ["path"],
        },
    },
    {
        "name": "list_folder",
        "description": "This tool can be used to list a folder. Hidden files are left out unless `all` is true.",
        "input_schema": {
            "title": "ListFolderArguments",
            "type": "object",
            "properties": {"path": _PATH, "all": {"type": "boolean", "title": "All", "default": False}},
            "required": ["path"],
        },
    },
]
