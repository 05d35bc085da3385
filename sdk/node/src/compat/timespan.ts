const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const units: Record<string, number> = {
  ms: 1, msec: 1, msecs: 1, millisecond: 1, milliseconds: 1,
  s: second, sec: second, secs: second, second, seconds: second,
  m: minute, min: minute, mins: minute, minute, minutes: minute,
  h: hour, hr: hour, hrs: hour, hour, hours: hour,
  d: day, day, days: day,
  w: 7 * day, week: 7 * day, weeks: 7 * day,
  y: 365.25 * day, yr: 365.25 * day, yrs: 365.25 * day, year: 365.25 * day, years: 365.25 * day
}

/** Parses a duration like the package `ms`, in milliseconds. */
function milliseconds(text: string): number | undefined {
  if (text.length === 0 || text.length > 100) {
    throw new Error('val is not a non-empty string or a valid number.')
  }
  const parts = /^(-?\d*\.?\d+) *([a-z]*)$/i.exec(text)
  const unit = units[(parts?.[2] || 'ms').toLowerCase()]
  return parts && unit !== undefined ? Number.parseFloat(parts[1]!) * unit : undefined
}

/** Returns the time after a duration, counted from `from` or from now, in seconds since 1970. */
export function timespan(time: unknown, from?: number): number | undefined {
  const start = from ?? Math.floor(Date.now() / 1000)
  if (typeof time === 'number') return start + time
  if (typeof time !== 'string') return undefined
  const found = milliseconds(time)
  return found === undefined ? undefined : Math.floor(start + found / 1000)
}
