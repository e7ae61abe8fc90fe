import type { Path } from './tree.ts'

/** Whether a mutation may change what is known of a key. */
export type Touches = (key: string) => boolean

const rootOnly = (key: string) => key === 'root'

/** What a mutation of these places may change: the records that they lie in, and nothing else. */
export function touchedBy(resource: string, good: unknown, paths: readonly Path[]): Touches {
  const each = paths.map((path) => touchedAt(resource, good, path))
  return (key) => each.some((touches) => touches(key))
}

function touchedAt(resource: string, good: unknown, path: Path): Touches {
  const [first = '', second, third] = path
  switch (resource) {
    case 'items':
    case 'recipes':
      return isOne(fieldOf(fieldOf(good, first), 'internalName'))
    case 'item-metadata': {
      const list = path.length > 1 ? path.slice(0, -1).join('/') : first
      return (key) => key.startsWith(list) || key.startsWith(`static/${list}`)
    }
    case 'online-players':
      if (first === 'total') return rootOnly
      return second === undefined ? () => true : isOne(second, fieldOf(fieldOf(good, 'players'), second), 'root')
    case 'guilds':
      if (first !== 'members' || second === 'total') return rootOnly
      return third === undefined ? () => true : isOne(memberAt(good, second, third), 'root')
    case 'players':
      if (path.some((step) => /restrictions|skillPoints|gamemode/.test(step))) return () => true
      if (first !== 'characters') return rootOnly
      return second === undefined ? () => true : isOne(second, 'root')
    default:
      return isOne(first)
  }
}

function memberAt(good: unknown, rank: string | undefined, name: string): unknown {
  const member = fieldOf(fieldOf(fieldOf(good, 'members'), rank ?? ''), name)
  return fieldOf(member, 'uuid') ?? name
}

function isOne(...keys: readonly unknown[]): Touches {
  return (key) => keys.some((one) => String(one).toLowerCase() === key.toLowerCase())
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
