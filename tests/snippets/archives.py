"""Zip archives for tests, good and bad."""

import io
import zipfile
from pathlib import Path


def zip_bytes(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def write_zip(path: Path, files: dict[str, bytes]) -> Path:
    path.write_bytes(zip_bytes(files))
    return path
