"""What the comparison runs in: the machine, our build, and a virtual environment with the peers."""

import json
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSIONS = """
import json, platform, torch, transformers, ctranslate2
print(json.dumps({"Python": platform.python_version(), "PyTorch": torch.__version__,
                  "transformers": transformers.__version__, "CTranslate2": ctranslate2.__version__}))
"""


def cores():
    return len(os.sched_getaffinity(0))


def cache():
    """Where everything that is made goes: outside the tree."""
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "gatto-peers"


def python_of(venv):
    return pathlib.Path(venv) / "bin" / "python"


def runs(python, *arguments):
    return python.exists() and subprocess.run([python, *arguments], capture_output=True).returncode == 0


def has_peers(python):
    return runs(python, "-c", VERSIONS)


def install(venv, say):
    """Makes the environment unless it is there already. `pip` can be told by its own variables (`PIP_EXTRA_INDEX_URL`)
    where a PyTorch without CUDA, several GB smaller, is to be had."""
    python = python_of(venv)
    if has_peers(python):
        return python
    say(f"installing the peers into {venv}")
    # Also where the making of an environment was once broken off.
    if not runs(python, "-m", "pip", "--version"):
        subprocess.run(["python3", "-m", "venv", venv], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "torch", "numpy", "safetensors", "transformers", "ctranslate2"], check=True)
    return python


def build(say):
    """Compiles our side, with the profile of the release."""
    say("building gatto and its side of the comparison")
    subprocess.run(["cargo", "build", "--release", "--bin", "gatto", "--example", "peers"], cwd=ROOT, check=True)


def programs():
    """The command line and our side of the comparison."""
    metadata = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    found = subprocess.run(metadata, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    release = pathlib.Path(json.loads(found)["target_directory"]) / "release"
    return release / "gatto", release / "examples" / "peers"


def versions(python):
    """That of Gatto, and those of the peers if there is a Python that has them."""

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    found = {}
    if python:
        found = json.loads(subprocess.run([python, "-c", VERSIONS], check=True, capture_output=True, text=True).stdout)
    changed = " with changes" if git("status", "--porcelain", "--untracked-files=no") else ""
    return {"Gatto": git("rev-parse", "--short", "HEAD") + changed, **found}


def machine():
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    flags = fields.get("flags", "").split()
    sets = [name for name in ("avx2", "avx512f", "avx512_vnni", "amx_tile") if name in flags]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": f"{fields.get('model name', platform.machine())}, {', '.join(sets)}",
        "cores": cores(),
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}, {' '.join(platform.libc_ver())}",
    }
