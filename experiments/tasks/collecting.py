"""The garbage collector, in processes that live long."""

import gc


def spare_what_is_loaded() -> None:
    """Code and models stay to the end. To look through them again and again would find nothing, and stop everything
    in the process meanwhile.
    """
    gc.collect()
    gc.freeze()
