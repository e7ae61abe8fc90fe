import type { Random } from '../../../src/base/clock.ts'

/** Names from the root of a body to a place in it. */
export type Path = readonly string[]

/** What a mutation of a body came to. */
export interface Mutated {
  readonly text: string
  readonly what: string
  /** Places that say something else now. */
  readonly paths: readonly Path[]
}

interface Node {
  readonly holder: Record<string, unknown>
  readonly name: string
  readonly path: Path
}

const long = Array.from({ length: 1500 }, (_, nth) => `${nth * 7919}`).join(' ')
const levels = 3000
const literals: Readonly<Record<string, string>> = {
  '@deep list': '['.repeat(levels) + ']'.repeat(levels),
  '@deep map': `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`,
  '@huge': '1e400',
  '@minus zero': '-0',
  '@long number': '123456789012345678901234567890',
  '@escapes': '"\\u0000\\ud83d\\ude00\\udfff"',
}

/** What comes in the place of any value. */
const values: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  0.5,
  1e39,
  -1e39,
  2 ** 31,
  2 ** 53,
  1e308,
  5e-324,
  1e-50,
  '',
  ' ',
  'text',
  '7',
  'null',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\u202eabc',
  '😀',
  'İ',
  long,
  '2026-02-30T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '2026-05-01T00:00:00+16:00',
  '2026-05-01',
  '2026-05-01T00:00:60Z',
  '1970-01-01T00:00:00.000Z',
  '2031-05-01T00:00:00.000Z',
  '+012026-05-01T00:00:00Z',
  '2026-05-01T00:00:00.123456789Z',
  'abcdefab-0000-4000-8000-00000000fa57',
  'ABCDEFAB-0000-4000-8000-00000000FA57',
  'abcdefab-0000-4000-8000',
  [],
  {},
  [null],
  [[]],
  [1, 'a', null],
  { a: 1 },
  { total: -5 },
  { '': '' },
  ...Object.keys(literals),
]

const names = [
  '',
  ' ',
  'text',
  'a\0b',
  '\ud800',
  '__proto__',
  'constructor',
  'toString',
  'a/b~c',
  '0',
  '-1',
  'total',
  '😀',
  long,
]

/** Changes one or two places of a body. */
export function mutateTree(good: unknown, random: Random): Mutated {
  const body = structuredClone(good)
  const paths: Path[] = []
  const what: string[] = []
  for (let times = random() < 0.8 ? 1 : 2; times > 0; times--) {
    const node = oneOf(nodesIn(body), random)
    if (!node) continue
    const change = oneOf(changes, random)
    if (!change) continue
    what.push(`${change.name} ${node.path.join('/')}`.slice(0, 120))
    paths.push(...change(node, random))
  }
  const text = Object.entries(literals).reduce(
    (rest, [mark, literal]) => rest.replaceAll(JSON.stringify(mark), literal),
    JSON.stringify(body),
  )
  return { text, what: what.join(', '), paths }
}

type Change = (node: Node, random: Random) => Path[]

const changes: readonly Change[] = [
  function remove({ holder, name, path }) {
    if (Array.isArray(holder)) holder.splice(Number(name), 1)
    else delete holder[name]
    return [path]
  },
  exchange,
  exchange,
  exchange,
  function retype({ holder, name, path }) {
    const value = holder[name]
    if (typeof value === 'number') holder[name] = String(value)
    else if (typeof value === 'string') holder[name] = value.length
    else if (Array.isArray(value)) holder[name] = { ...value }
    else holder[name] = Object.values(Object(value))
    return [path]
  },
  function rename({ holder, name, path }, random) {
    const other = random() < 0.3 ? name.toUpperCase() : (oneOf(names, random) ?? '')
    if (Array.isArray(holder) || other === name) return exchange({ holder, name, path }, random)
    const value = holder[name]
    delete holder[name]
    Object.defineProperty(holder, other, { value, enumerable: true, writable: true, configurable: true })
    return [path, [...path.slice(0, -1), other]]
  },
  function add({ holder, path }, random) {
    const other = oneOf(names, random) ?? ''
    const value = oneOf(values, random)
    if (Array.isArray(holder)) holder.push(value)
    else Object.defineProperty(holder, other, { value, enumerable: true, writable: true, configurable: true })
    return [[...path.slice(0, -1), other], ...(Array.isArray(holder) ? [path.slice(0, -1)] : [])]
  },
  function swap({ holder, name, path }, random) {
    const other = oneOf(Object.keys(holder), random) ?? name
    const value = holder[name]
    holder[name] = holder[other]
    holder[other] = value
    return [path, [...path.slice(0, -1), other]]
  },
  function double({ holder, name, path }) {
    if (!Array.isArray(holder)) return []
    holder.push(structuredClone(holder[Number(name)]))
    return [path]
  },
  function anotherUuid({ holder, name, path }) {
    const value = holder[name]
    const isUuid = typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(value)
    if (isUuid) holder[name] = `fa57fa57${value.slice(8)}`
    return isUuid ? [path] : []
  },
  function capitals({ holder, name, path }) {
    const value = holder[name]
    if (typeof value === 'string') holder[name] = value.toUpperCase()
    return [path]
  },
]

function exchange({ holder, name, path }: Node, random: Random): Path[] {
  holder[name] = oneOf(values, random)
  return [path]
}

/** Every place of a body but its root. */
function nodesIn(body: unknown, path: Path = []): Node[] {
  if (typeof body !== 'object' || body === null) return []
  const holder = body as Record<string, unknown>
  return Object.keys(holder).flatMap((name) => {
    const here = [...path, name]
    return [{ holder, name, path: here }, ...nodesIn(holder[name], here)]
  })
}

export function oneOf<T>(list: readonly T[], random: Random): T | undefined {
  return list[Math.floor(random() * list.length)]
}
