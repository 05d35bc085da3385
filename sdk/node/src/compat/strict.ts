/** A text, or what opens, closes and divides. Other characters are of numbers and words. */
const parts = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g

/** Whether an object in a JSON text has a member twice: readers disagree about which of them counts. */
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
  try {
    return String(JSON.parse(text))
  } catch {
    // No JSON: the payload is a text.
    return text
  }
}
