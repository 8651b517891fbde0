"""The one place that opens inputs and outputs, so that no file is damaged unnoticed.

* `reading`: lines, bytes, JSON and TOML; every error names the file; what cannot be read twice is
  known by `is_stream` and copied by `spooled`.
* `writing`: a final name appears only when its content is complete (`atomic`, `atomic_folder`).
* `checking`: before any work, no output is an input, another output or somebody's file, and all
  can be written.

A verb begins with `check_outputs`, reads with `read_*`, and writes with `write_*` or `atomic`.
"""

from switchout.files.checking import check_output_folder, check_outputs
from switchout.files.reading import (
    is_standard_output,
    is_stream,
    named_errors,
    open_bytes,
    read_bytes,
    read_json,
    read_lines,
    read_toml,
    sha256_of,
    spooled,
)
from switchout.files.writing import (
    Draft,
    atomic,
    atomic_folder,
    write_json,
    write_text,
    write_texts,
)

__all__ = [
    "Draft",
    "atomic",
    "atomic_folder",
    "check_output_folder",
    "check_outputs",
    "is_standard_output",
    "is_stream",
    "named_errors",
    "open_bytes",
    "read_bytes",
    "read_json",
    "read_lines",
    "read_toml",
    "sha256_of",
    "spooled",
    "write_json",
    "write_text",
    "write_texts",
]
