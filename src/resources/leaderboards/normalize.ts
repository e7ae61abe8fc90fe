import { isStorable, isUuid, longestKey, uuidText } from '../../api/schemas/form/limits.ts'
import { readLeniently } from '../../api/schemas/form/record.ts'
import { fieldsOf, unknownFields } from '../../api/schemas/form/unknown.ts'
import { leaderboardEntrySchema, parseRank, type Rank } from '../../api/schemas/leaderboards.ts'
import { isPublic } from '../../api/schemas/people/restrictions.ts'
import { RecordError } from '../../base/errors.ts'
import type { Normalized, QuarantinedPart, Row } from '../../sync/declare/resource.ts'
import { fieldOf, hasFields, recordError, uuidField } from '../record.ts'
import type { leaderboardHistory } from './tables.ts'

export interface NamedBoard {
  readonly type: string
  readonly body: unknown
}

/** What the text of a hidden player's name and uuid is. */
export const redacted = 'redacted'

const unknownIn = unknownFields(leaderboardEntrySchema)
/** Ten times what a board can be asked for (API reference 3.7): places up to the last one are counted through. */
const lastPlace = 10_000
/** What a column of numbers takes is less than this. */
const highestScore = Number.MAX_SAFE_INTEGER

/** The entries of a board by the key under which they came; of a list, and where keys count from 0, by the number of the place. */
export function entriesOf(body: unknown): [string, unknown][] {
  const entries = Array.isArray(body) ? [...body.entries()] : fieldsOf(body)
  const countsFromZero = entries.length > 0 && entries.every(([key], nth) => String(nth) === String(key))
  return entries.map(([key, entry]) => [countsFromZero ? String(Number(key) + 1) : String(key), entry])
}

const isPlace = (key: string) => /^\d{1,7}$/.test(key) && Number(key) >= 1 && Number(key) <= lastPlace

const ofPlayers = ['restricted', 'username', 'characterUuid', 'characterType', 'characterData']

/** Whether an entry is a guild's: it has a prefix, or the name of its board says so. A player's is one on any board, or it could not be removed. */
export function isGuild(entry: unknown, type: string): boolean {
  if (typeof fieldOf(entry, 'prefix') === 'string') return true
  return /^guild|Guilds$/.test(type) && !ofPlayers.some((name) => hasFields(entry, name))
}

/** By most entries, so that none decides alone; of a board without any, by its name. */
function ranksGuilds({ type, body }: NamedBoard): boolean {
  const entries = entriesOf(body)
  if (entries.length === 0) return isGuild(undefined, type)
  return 2 * entries.filter(([, entry]) => isGuild(entry, type)).length > entries.length
}

/** One board into rows: that it exists as history, its places as samples. An entry that cannot be read costs its place only. */
export function normalizeBoard(record: unknown): Normalized<typeof leaderboardHistory> {
  const board = record as NamedBoard
  const { type } = board
  const entries = entriesOf(board.body)
  const quarantined: QuarantinedPart[] = []
  const places = new Map<number, Row>()
  for (const [key, entry] of entries) {
    const add = (path: string, reason: string) =>
      quarantined.push({ key: `${type}/${uuidField(entry, 'uuid') ?? key}`, raw: entry, path, reason })
    const place = Number(key)
    if (!isPlace(key)) add(`/${key}`, 'is no place on a board')
    else if (places.has(place)) add(`/${key}`, 'the place is there twice')
    else places.set(place, { type, place, ...readEntry(entry, type, (path, reason) => add(`/${key}${path}`, reason)) })
  }
  const kind = ranksGuilds(board) ? 'guild' : 'player'
  const fields = newFields(board.body)
  return {
    key: type,
    document: { type, kind, ...(fields.length > 0 ? { fields } : {}) },
    root: { type, kind },
    parts: {},
    samples: { places: [...places.values()] },
    // Of entries none of which has a place that can be read, it is not known which places there are.
    facts: places.size > 0 || entries.length === 0 ? [...places.keys()] : null,
    quarantined,
  }
}

/** The columns of an entry; those of one that does not say whose it is are empty, with the reason. */
function readEntry(raw: unknown, type: string, refuse: (path: string, reason: string) => void): Row {
  try {
    const { value: entry, odd } = readLeniently(raw, parseRank, ['uuid'])
    for (const { place, reason } of odd) refuse(`/${place.join('/')}`, reason)
    const numbers = { score: scoreOf(entry, type), metaScore: entry.metaScore }
    if (isHidden(entry)) return { ...numbers, reason: redacted }
    const uuid = uuidText(entry.uuid ?? '')
    const name = entry.name ?? entry.username ?? null
    if (!isUuid(uuid)) throw recordError('/uuid', 'is no uuid')
    if (name !== null && (!isStorable(name) || name.length > longestKey)) throw recordError('/name', 'cannot be stored')
    for (const [field, value] of Object.entries(numbers))
      if (typeof value === 'number' && Math.abs(value) >= highestScore)
        throw recordError(`/${field}`, 'is out of range')
    const character = uuidText(entry.characterUuid ?? '')
    const whose = isGuild(raw, type) ? { guildUuid: uuid } : { playerUuid: uuid }
    return { ...numbers, ...whose, name, ...(isUuid(character) ? { characterUuid: character } : {}) }
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
    refuse(String(error.context.path ?? ''), error.message)
    return { reason: 'unreadable' }
  }
}

/** Whether an entry does not say whose it is, because the player does not want it. */
export function isHidden(entry: unknown): boolean {
  return !isPublic(fieldOf(entry, 'restricted')) || fieldOf(entry, 'uuid') === redacted
}

/** Older boards of guilds have no score but the guild's numbers, of which each ranks by another. */
function scoreOf({ score, level, territories, wars }: Rank, type: string): number | null {
  if (typeof score === 'number') return score
  const number = type === 'guildTerritories' ? territories : type === 'guildWars' ? wars : level
  return number ?? null
}

/** Names of the fields of entries that the program does not know, also of those inside of others, in the order of the alphabet. */
function newFields(body: unknown): string[] {
  const found = new Set<string>()
  // What stands under no place, such as around the board, is no entry.
  for (const [, entry] of entriesOf(body).filter(([key]) => isPlace(key)))
    for (const { path } of unknownIn(entry)) {
      const field = path.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')
      if (isStorable(field)) found.add(field)
    }
  return [...found].sort()
}
