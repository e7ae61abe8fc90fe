import type { Random } from '../../../base/clock.ts'
import { pick } from '../../generator/draw.ts'
import { type Fault, noCache, type Outgoing, withBody, withHeaders } from '../fault.ts'
import { type Fields, rewritten, spoilable } from './json.ts'

/** What distinguishes one record from another stays: a record without that is another fault. */
const identity = new Set(['uuid', 'internalName'])

const badInstants = ['2026-02-30T12:00:00.000Z', '0000-01-01T00:00:00.000Z', '2026-05-01T12:00:00.000+16:00', 'soon']
const badTexts = ['a\0b', 'half \ud800 of a pair', 'pair \udc00\ud800 turned round']
const badNumbers = [1e39, -1e39, 1e308, 2 ** 53, -(2 ** 31) - 1, 1e-50, 0.5]
const levels = 10_000

/** Clears the screen, sets the title, turns the line around, and begins a line of its own. */
const hostile = '\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\u2066\u200b\u2028\nwynnsync: all is well'

/** Responses in which a value is one that a terminal would act upon, or that no database takes. */
export const values = {
  'hostile-error': {
    about: 'an error of the application whose text holds control, bidirectional and invisible characters',
    spoil: (answer) => {
      const body = JSON.stringify({ error: `Error ${hostile}`, detail: hostile, code: 500 })
      return withBody({ ...withHeaders(answer, noCache), status: 500 }, body)
    },
  },
  'bad-instants': {
    about: 'an instant that no calendar has: 30 February, year 0, an offset of 16 hours',
    spoil: (answer, { path, random }) =>
      spoilLeaf(answer, path, random, (value) => /^\d{4}-\d\d-\d\dT/.test(String(value)) && pick(random, badInstants)),
  },
  'bad-text': {
    about: 'NUL or half of a surrogate pair in a text or in a name',
    spoil: (answer, { path, random }) =>
      random() < 0.3
        ? rewritten(answer, (body) => renameOne(body, pick(random, badTexts), random))
        : spoilLeaf(answer, path, random, (value) => typeof value === 'string' && pick(random, badTexts)),
  },
  'bad-numbers': {
    about: 'a number beyond what its column holds',
    spoil: (answer, { path, random }) =>
      spoilLeaf(answer, path, random, (value) => typeof value === 'number' && pick(random, badNumbers)),
  },
  'capital-uuids': {
    about: 'uuids in capitals, or without their dashes',
    spoil: (answer, { random }) => {
      if (answer.status !== 200) return undefined
      const text = new TextDecoder().decode(answer.body)
      const spoilt = text.replaceAll(/"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"/g, (uuid) => {
        const chance = random()
        if (chance < 0.3) return uuid.toUpperCase()
        return chance < 0.6 ? uuid.replaceAll('-', '') : uuid
      })
      return spoilt === text ? undefined : withBody(answer, spoilt)
    },
  },
  'deep-nesting': {
    about: 'a record with 10,000 levels of nesting',
    spoil: (answer, { path, random }) => {
      const marked = rewritten(answer, (body) => {
        const record = oneIn(spoilable(path, body), random)
        if (record) record.sandboxDepth = 'DEEP'
        return record !== undefined
      })
      const deep = random() < 0.5 ? ['[', ']', '1'] : ['{"a":', '}', '{}']
      const [open = '', close = '', last = ''] = deep
      if (!marked) return undefined
      const text = new TextDecoder().decode(marked.body)
      return withBody(answer, text.replace('"DEEP"', open.repeat(levels) + last + close.repeat(levels)))
    },
  },
  'bad-utf8': {
    about: 'a byte that is not UTF-8',
    spoil: (answer, { random }) => {
      if (answer.status !== 200 || answer.body.length < 10) return undefined
      const body = answer.body.slice()
      const from = Math.floor(random() * body.length)
      const at = body.findIndex((byte, nth) => nth >= from && byte >= 0x61 && byte <= 0x7a)
      if (at < 0) return undefined
      body[at] = 0xfc
      return { ...answer, body }
    },
  },
} as const satisfies Record<string, Fault>

function oneIn<T>(list: readonly T[], random: Random): T | undefined {
  return list[Math.floor(random() * list.length)]
}

/** Exchanges one value of one record. @param exchange gives what comes instead, or false for a value that stays */
function spoilLeaf(
  answer: Outgoing,
  path: string,
  random: Random,
  exchange: (value: unknown) => unknown,
): Outgoing | undefined {
  const isExchangeable = ({ holder, name }: Leaf) => exchange(holder[name]) !== false
  return rewritten(answer, (body) => {
    const records = spoilable(path, body).filter((record) => leavesOf(record).some(isExchangeable))
    const chosen = oneIn(records, random)
    const leaf = chosen && oneIn(leavesOf(chosen).filter(isExchangeable), random)
    if (!leaf) return false
    leaf.holder[leaf.name] = exchange(leaf.holder[leaf.name])
    return true
  })
}

interface Leaf {
  readonly holder: Fields
  readonly name: string
}

/** Everything in a record that is neither an object nor a list, at any depth. */
function leavesOf(record: Fields): Leaf[] {
  return Object.entries(record).flatMap(([name, value]) => {
    if (typeof value === 'object' && value !== null) return leavesOf(value as Fields)
    return identity.has(name) ? [] : [{ holder: record, name }]
  })
}

/** One entry of a body that is a map goes by another name. */
function renameOne(body: object, text: string, random: Random): object | boolean {
  const names = Array.isArray(body) || 'uuid' in body ? [] : Object.keys(body)
  const chosen = oneIn(names, random)
  if (chosen === undefined) return false
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name === chosen ? name + text : name, value]))
}
