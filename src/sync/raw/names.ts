const replacement = 'removed'

/** Fields that hold the name of a guild, which may be spelt like a player's. */
const ofGuilds = ['name', 'prefix']

/** Replaces in a body, in place, what contains the player's uuid or is the player's name; true when there was any. */
export function replaceNames(body: unknown, playerUuid: string, names: readonly string[]): boolean {
  const uuid = new RegExp(playerUuid.replaceAll('-', '-?'), 'gi')
  const lower = new Set(names.map((name) => name.toLowerCase()))
  let found = false

  function replaced(text: string): string {
    const other = lower.has(text.toLowerCase()) ? replacement : text.replace(uuid, replacement)
    found ||= other !== text
    return other
  }

  function visit(value: unknown): unknown {
    if (typeof value === 'string') return replaced(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      for (const [index, one] of value.entries()) value[index] = visit(one)
      return value
    }
    const fields: Record<string, unknown> = Object.assign(value)
    for (const [key, one] of Object.entries(fields)) {
      const field = replaced(key)
      if (field !== key) delete fields[key]
      fields[field] = ofGuilds.includes(key) && typeof one === 'string' ? one : visit(one)
    }
    return fields
  }

  visit(body)
  return found
}
