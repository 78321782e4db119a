"""Torch is asked for when a device is, and not before."""

import subprocess
import sys


def printed(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_without_torch_one_sentence_says_how_to_get_it():
    code = (
        "import sys\n"
        "from adatron import SVC\n"
        "sys.modules['torch'] = None\n"
        "try: SVC(device='cuda').fit([[0.0], [1.0]], [0, 1])\n"
        "except ImportError as error: print(error)"
    )
    assert printed(code).startswith("A device needs torch: pip install torch")


def test_fits_and_predictions_of_the_processor_import_no_torch():
    code = (
        "import sys\n"
        "from adatron import SVC\n"
        "SVC().fit([[0.0], [1.0]], [0, 1]).predict([[0.0]])\n"
        "print('torch' in sys.modules)"
    )
    assert printed(code) == "False\n"
