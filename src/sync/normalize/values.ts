/** Model numbers change with every resource pack and say nothing about what they show (API reference 5.2, `icon`). */
export const modelNumber = 'customModelData'

/** ISO 8601 with a time zone: the API sends `Z` and `+00:00`, with and without microseconds (API reference 6). */
const instant = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?:Z|z|([+-])(0\d|1[0-5])(?::?([0-5]\d))?)$/

/**
 * An instant in the one spelling that is hashed and stored, UTC with microseconds and `Z`, which is how the API mostly sends it;
 * any other text as it is.
 */
export function canonicalInstant(text: string): string {
  // Most texts are none, and an expression costs more than two characters.
  if (text.length < 20 || text.length > 35 || text.charCodeAt(4) !== 45 || text.charCodeAt(13) !== 58) return text
  const [, day, time, fraction = '', sign, hours, minutes = '00'] = instant.exec(text) ?? []
  if (day === undefined) return text
  const at = Date.parse(`${day}T${time}${sign === undefined ? 'Z' : `${sign}${hours}:${minutes}`}`)
  if (Number.isNaN(at)) return text
  const utc = new Date(at).toISOString()
  // The 31st of June is no day, and years of more than four digits are written otherwise.
  if (sign === undefined && utc.slice(0, 19) !== `${day}T${time}`) return text
  return utc.length === 24 ? `${utc.slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}Z` : text
}

/**
 * The values of a record: without model numbers at any depth, and with instants in one spelling. What differs in neither from
 * what was sent is returned as it is.
 * @param respelled gets the spelling that was sent, by the one that it has now
 */
export function canonicalValues(value: unknown, respelled: Map<string, string>): unknown {
  if (typeof value === 'string') {
    const canonical = canonicalInstant(value)
    if (canonical !== value) respelled.set(canonical, value)
    return canonical
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const elements = value.map((element) => canonicalValues(element, respelled))
    return elements.some((element, index) => element !== value[index]) ? elements : value
  }
  let kept: Record<string, unknown> | undefined
  for (const [name, inner] of Object.entries(value)) {
    const left = name === modelNumber ? undefined : canonicalValues(inner, respelled)
    if (left === inner) continue
    kept ??= { ...value }
    if (left === undefined) delete kept[name]
    else kept[name] = left
  }
  return kept ?? value
}
