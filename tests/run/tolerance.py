"""How far a measured time may be from the truth: the only place where a test gets such a number."""

TIME_MS = 5.0          # of every time column, plus
TIME_SHARE = 0.02      # this share of the value
DIAGNOSIS_SHARE = 0.05 # amounts found by a diagnosis against those built in
DIAGNOSIS_PART = 0.90  # share of a class that the culprit must carry
GROSS = 3.0            # times that are off by this factor, and by
GROSS_MS = 20.0        # so much per row, are judged on a busy machine, too
ATTEMPTS = 8           # times are measured again so often on a noisy machine; counts never
ATTEMPTS_LATE = 2      # so often when the machine is noisy and the test has gone on for
PATIENCE = 240.0       # seconds


def near(measured_ms, true_ms, parts=1):
    """parts: number of rows that were added up."""
    return abs(measured_ms - true_ms) <= TIME_MS * parts + TIME_SHARE * abs(true_ms)


class Gross(str):
    """What is said of a time that is grossly wrong."""


def said(text, measured_ms, true_ms, parts=1):
    """The text about a time that is off, marked when it is grossly wrong."""
    low, high = sorted((abs(measured_ms), abs(true_ms)))
    gross = high >= GROSS * low and high - low >= GROSS_MS * parts
    return Gross(text) if gross else text
