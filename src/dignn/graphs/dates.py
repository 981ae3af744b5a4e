"""Columns that count time: what they count, and the calendar date that a value stands for."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta

from dignn.core.errors import SchemaError

# Units of dates, in days.
DATE_UNITS = {"seconds": 1 / 86_400, "minutes": 1 / 1_440, "hours": 1 / 24, "days": 1.0, "years": 365.2425}
# The calendar repeats after this many years, and days.
_CYCLE_YEARS, _CYCLE_DAYS = 400, 146_097


def check_epoch(epoch: str) -> None:
    """Raises for a text that is no date; the year 0 is one, so that a column may hold years as they are written.

    Raises:
        SchemaError: it is none.
    """
    try:
        _ordinal(epoch)
    except ValueError:
        raise SchemaError(f"The epoch of a date is {epoch!r}; write it as YYYY-MM-DD") from None


def calendar(value: float, unit: str, epoch: str) -> str:
    """The date that a value stands for: ``2015-03-01``, with the time of day in hours and less, a year for years.

    Args:
        value: so many units.
        unit: one of :data:`DATE_UNITS`.
        epoch: the date that they are counted from, as YYYY-MM-DD.

    Returns:
        Beyond the years 1 to 9999 the value itself, in words.
    """
    plain = f"{value:.6g} {unit} from {epoch}"
    if not math.isfinite(value):
        return plain
    if unit == "years":
        year = int(epoch[:4]) + math.floor(value)
        if value == math.floor(value) and epoch[4:] == "-01-01":
            return str(year)
        if not 1 <= year <= 9998:
            return plain
        start = date(year, int(epoch[5:7]), min(int(epoch[8:10]), 28)).toordinal()
        return date.fromordinal(start + int((value - math.floor(value)) * DATE_UNITS["years"])).isoformat()
    days = value * DATE_UNITS[unit] + _ordinal(epoch)
    if not 1 <= days < date.max.toordinal():
        return plain
    if unit == "days":
        return date.fromordinal(math.floor(days)).isoformat()
    moment = datetime.min + (timedelta(days=_ordinal(epoch) - 1) + timedelta(**{unit: value}))
    return moment.isoformat(" ", "minutes")


def _ordinal(epoch: str) -> int:
    """Number of the day, 1 for the first of the year 1."""
    if epoch.startswith("0000-"):
        return date.fromisoformat(f"{_CYCLE_YEARS:04}{epoch[4:]}").toordinal() - _CYCLE_DAYS
    return date.fromisoformat(epoch).toordinal()
