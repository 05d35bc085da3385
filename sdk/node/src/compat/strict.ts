/** Matches strings and structural characters. All other characters belong to numbers and literals. */
const parts = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g

/** Returns whether an object in a JSON text has a duplicate member: parsers disagree about which one counts. */
export function hasDuplicateMember(json: string): boolean {
  const open: (Set<string> | null)[] = []
  let last = ''
  for (const [part] of json.matchAll(parts)) {
    if (part === '{') open.push(new Set())
    else if (part === '[') open.push(null)
    else if (part === '}' || part === ']') open.pop()
    else if (part === ':') {
      const names = open.at(-1)
      const name = nameOf(last)
      if (names?.has(name)) return true
      names?.add(name)
    }
    last = part
  }
  return false
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
