// The options of an attack, as the user of a library writes them.

/** The values that JSON does not have. */
const special = {
  $regexp: text => new RegExp(text),
  $set: list => new Set(list),
  $number: text => Number(text),
  $bytes: text => Buffer.from(text)
}

/** Returns the options, with each value that JSON does not have: an object with one member, such as `$set`. */
export function userOptions(value) {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value
  const [name] = Object.keys(value)
  if (name in special) return special[name](value[name])
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, userOptions(one)]))
}
