import { isStorable, storable } from '../../api/schemas/form/limits.ts'

/** Model numbers change with every resource pack and say nothing about what they show (API reference 5.2, `icon`). */
export const modelNumber = 'customModelData'

/**
 * ISO 8601: the API sends `Z` and `+00:00`, with and without microseconds (API reference 6). What names no zone is UTC, as columns read
 * it. Without seconds or zone it needs the `T`: other texts of that form are for people.
 */
const instant =
  /^(\d{4}-\d\d-\d\d)(?:[Tt](\d\d:\d\d)|[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,12}))?) ?(?:[Zz]|([+-])(0\d|1[0-5])(?::?([0-5]\d))?)?$/
/** The same without hyphens and colons. */
const basic = /^(\d{4})(\d\d)(\d\d)[Tt](\d\d)(\d\d)(\d\d)((?:[.,]\d{1,12})?(?:[Zz]|[+-]\d\d(?::?\d\d)?)?)$/

/**
 * An instant in the one spelling that is hashed and stored, UTC with microseconds and `Z`, which is how the API mostly sends it;
 * any other text as it is.
 */
export function canonicalInstant(text: string): string {
  // Most texts are none, and an expression costs more than a few characters.
  if (text.length < 15 || text.length > 40) return text
  const isBasic = text.charCodeAt(8) === 84 || text.charCodeAt(8) === 116
  if (!isBasic && (text.charCodeAt(4) !== 45 || text.charCodeAt(13) !== 58)) return text
  const extended = isBasic ? text.replace(basic, '$1-$2-$3T$4:$5:$6$7') : text
  const [, day, minute, second, fraction = '', sign, hours, minutes = '00'] = instant.exec(extended) ?? []
  if (day === undefined) return text
  const time = second ?? `${minute}:00`
  const written = Date.parse(`${day}T${time}Z`)
  // The 31st of June is no day.
  if (Number.isNaN(written) || new Date(written).toISOString().slice(0, 19) !== `${day}T${time}`) return text
  const at = sign === undefined ? written : Date.parse(`${day}T${time}${sign}${hours}:${minutes}`)
  const utc = new Date(at).toISOString()
  // Years of more than four digits are written otherwise.
  return utc.length === 24 ? `${utc.slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}Z` : text
}

/**
 * The values of a record: without model numbers at any depth, with instants in one spelling, and with a replacement character for each
 * one that no database keeps, in names too. What differs in none of it from what was sent is returned as it is.
 * @param respelled gets what was sent of instants and of texts that no database keeps, by what stands there now
 */
export function canonicalValues(value: unknown, respelled: Map<string, string>): unknown {
  if (typeof value === 'string') {
    const canonical = isStorable(value) ? canonicalInstant(value) : storable(value)
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
    const field = storable(name)
    // Another name that looks the same then stays as it is, and is refused.
    const isRenamed = field !== name && !Object.hasOwn(kept ?? value, field)
    if (left === inner && !isRenamed) continue
    kept ??= { ...value }
    if (isRenamed) respelled.set(field, name)
    if (left === undefined || isRenamed) delete kept[name]
    if (left !== undefined) kept[isRenamed ? field : name] = left
  }
  return kept ?? value
}
