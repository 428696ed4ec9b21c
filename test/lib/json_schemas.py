# SPDX-License-Identifier: LGPL-2.1-or-later
"""What headgate prints as JSON, held against the files in schemas/."""

import functools
import json
from pathlib import Path

import jsonschema

SCHEMAS = Path(__file__).resolve().parents[1] / "schemas"


@functools.cache
def validator(name):
    schema = json.loads((SCHEMAS / name).with_suffix(".json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def no_key_twice(pairs):
    """The objects of JSON may have a key twice, of which most programs see one."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"a key is there twice: {', '.join(key for key, _ in pairs)}")
    return dict(pairs)


def mistakes(name, text):
    """In what the text is not as the schema of that name says, a line each."""
    try:
        content = json.loads(text, object_pairs_hook=no_key_twice)
    except ValueError as error:
        return [str(error)]
    return [f"/{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator(name).iter_errors(content)]


def check(name, text):
    """Fail if there is a mistake."""
    found = mistakes(name, text)
    assert not found, "\n".join(found)
