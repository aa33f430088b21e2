"""Where the tests find the examples, and Flux's interface if Flux is not installed."""

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "examples"))
if importlib.util.find_spec("flux") is None:
    sys.path.append(str(HERE / "standin"))
