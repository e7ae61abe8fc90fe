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
    case 'leaderboards':
      // The fields of all entries describe the board.
      return isOne(first, 'root')
    case 'quests':
      return () => true
    case 'ability-trees':
      return abilityAt(good, path)
    case 'videos':
      return isOne(...near(good, first))
    case 'articles':
      return isOne(idAlong(good, path, 'pk'))
    case 'classes':
      return isOne(fieldOf(good, 'id') ?? first)
    case 'map-markers':
      return isOne(...near(good, first).map((record) => joined(record, ['name', 'x', 'y', 'z'])))
    case 'gathering-nodes':
      return isOne(...near(good, first).map((record) => joined(record, ['x', 'y', 'z', 'resource'])))
    case 'latest-news':
      return isOne(...near(good, first).map((record) => fieldOf(record, 'forumThread')))
    case 'loot-pools':
    case 'raids':
    case 'camps':
    case 'world-events':
    case 'aspects':
      return isOne(...near(good, first).map((record) => fieldOf(record, 'internalName')))
    default:
      return isOne(first)
  }
}

/** The record of a place in a list, and those beside it: when one is removed, the others move. */
function near(good: unknown, index: string): unknown[] {
  if (!Array.isArray(good)) return [fieldOf(good, index)]
  return [-1, 0, 1].map((by) => good[Number(index) + by])
}

function joined(record: unknown, names: readonly string[]): string {
  return names.map((name) => fieldOf(record, name)).join('/')
}

/** What the record that a place lies in has in its field `name`; undefined outside of all records. */
function idAlong(good: unknown, path: Path, name: string): unknown {
  let value = good
  for (const step of path) {
    value = fieldOf(value, step)
    const id = fieldOf(value, name)
    if (id !== undefined) return id
  }
  return undefined
}

/** In a tree, the ability or archetype; in a map, the connector, whose place is its id. */
function abilityAt(good: unknown, [first = '', second = '', third = '']: Path): Touches {
  if (fieldOf(good, 'pages') !== undefined) return endsWith(first === 'archetypes' ? second : third)
  const node = fieldOf(fieldOf(good, first), second)
  const [meta, at] = [fieldOf(node, 'meta'), fieldOf(node, 'coordinates')]
  return endsWith([fieldOf(meta, 'page'), fieldOf(at, 'x'), fieldOf(at, 'y')].join(' '))
}

/** The change log names the class and the kind before the id. */
function endsWith(id: string): Touches {
  return (key) => id !== '' && `/${key}`.endsWith(`/${id}`)
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
