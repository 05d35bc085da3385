/** Returns whether an object in a JSON text has a duplicate member: parsers disagree about which one counts. */
export function hasDuplicateMember(json: string): boolean {
  /** The names in the open objects. An open array has none. */
  const open: (Set<string> | null)[] = []
  /** The last string, with its quotes. */
  let last = ''
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case 0x22: { // "
        const end = endOfString(json, at)
        last = json.slice(at, end)
        at = end - 1
        break
      }
      case 0x7b: // {
        open.push(new Set())
        break
      case 0x5b: // [
        open.push(null)
        break
      case 0x7d: // }
      case 0x5d: // ]
        open.pop()
        break
      case 0x3a: { // :
        const names = open.at(-1)
        const name = nameOf(last)
        if (names?.has(name)) return true
        names?.add(name)
      }
    }
  }
  return false
}

/** Returns the position after a string, or the end of a text that is not JSON. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let first = end
    while (json[first - 1] === '\\') first--
    // An odd number of backslashes escapes the quote.
    if ((end - first) % 2 === 0) return end + 1
  }
  return json.length
}

function nameOf(text: string): string {
  if (text.startsWith('"') && !text.includes('\\')) return text.slice(1, -1)
  try {
    return String(JSON.parse(text))
  } catch {
    // Not JSON: the payload is text.
    return text
  }
}
