"""Transform 2: tool catalogs without their filler.

`shrink_catalog` takes any document that holds tool definitions and returns it shorter, `explain_tool` says what was kept, what
was dropped and why. Names, types, enums, required, defaults, constants, `$ref` targets and stated constraints stay.
"""
