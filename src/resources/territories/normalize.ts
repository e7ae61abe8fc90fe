import { isSameInstant, uuidText } from '../../api/schemas/form/limits.ts'
import { type OddField, typeOf } from '../../api/schemas/form/record.ts'
import { isFields } from '../../api/schemas/form/unknown.ts'
import { parseTerritory, type Territory, territorySchema } from '../../api/schemas/territories.ts'
import { RecordError } from '../../base/errors.ts'
import {
  type Entity,
  type IgnoredInstant,
  type Normalized,
  possible,
  type ResponseContext,
  type Row,
} from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { fieldOf, instantOf, refuseOther, unnamedIn } from '../record.ts'
import type { territoryHistory } from './tables.ts'

/**
 * One territory under its exact name into rows (API reference 6.3): its standing as history, its holder as another, its
 * resources as samples.
 */
export function normalizeTerritory(named: unknown, context?: ResponseContext): Normalized<typeof territoryHistory> {
  const { territory, record } = named as { readonly territory: string; readonly record: unknown }
  const parsed = readTerritory(record)
  // Who holds it, since when, and what is stored have tables of their own: they are no version of the place.
  const { guild, acquired: sent, resources, ...standing } = parsed
  const ignored: IgnoredInstant[] = []
  const acquired = possible(sent, context, ignored, { field: 'acquired', of: territory })
  const links = [...(parsed.links ?? [])].sort()
  const { start, end } = parsed.location ?? {}
  const [minX, maxX] = ends(start?.[0], end?.[0])
  const [minZ, maxZ] = ends(start?.[1], end?.[1])
  // With its corners in order: turned round it is the same place.
  const corners = minX === undefined || minZ === undefined ? {} : { start: [minX, minZ], end: [maxX, maxZ] }
  const location = parsed.location && { ...parsed.location, ...corners }
  return {
    key: territory,
    document: { ...standing, ...unnamedOf(guild, resources), location, links } as Entity['document'],
    root: { territory, minX, minZ, maxX, maxZ, isHq: parsed.hq, treasury: parsed.treasury, defences: parsed.defences },
    parts: { links: links.map((linksTo, position) => ({ position, linksTo })) },
    relatedEntities: { holds: namesHolder(guild, sent) ? [holdOf(territory, guild, acquired, context)] : [] },
    ...(namesHolder(guild, sent) || guild === undefined ? {} : { odd: [oddHolder(guild)] }),
    samples: { resources: resourceRows(territory, resources) },
    ...(resources === undefined || Array.isArray(resources) ? { lists: { resources: [{ territory }] } } : {}),
    ignored,
  }
}

const unnamed = unnamedIn(territorySchema, ['guild', 'resources'])

/** What the holder and the resources have that no table of theirs knows. Resources come in any order. */
function unnamedOf(guild: Territory['guild'], resources: Territory['resources']) {
  const sorted = Array.isArray(resources)
    ? [...resources].sort((one, other) => (String(one.type) < String(other.type) ? -1 : 1))
    : undefined
  return unnamed({ guild, resources: sorted })
}

/**
 * A holder without a uuid although it captured the place is no holder: what the record does not say has not changed.
 * @throws RecordError with the JSON pointer of the first thing that is no territory
 */
function readTerritory(record: unknown): Territory {
  refuseOther(record, territorySchema)
  const when = fieldOf(record, 'acquired')
  const at = instantOf(when)
  const parsed = parseTerritory(at === when ? record : { ...Object(record), acquired: at })
  const { guild, acquired } = parsed
  if (typeof guild === 'object' && guild !== null && acquired && !holderUuid(guild))
    throw new RecordError('a guild without a uuid that has captured the territory', {
      context: { path: '/guild', anywhere: '/guild/uuid', type: typeOf(guild.uuid) },
    })
  return parsed
}

/** Corners come in any order. */
function ends(a: number | undefined, b: number | undefined): [number, number] | [undefined, undefined] {
  return a === undefined || b === undefined ? [undefined, undefined] : [Math.min(a, b), Math.max(a, b)]
}

/**
 * False when the record leaves out the guild, or has `acquired` without a guild that has a uuid: that is not unclaimed, and what is missing
 * has not changed.
 */
function namesHolder(guild: Territory['guild'], acquired: Territory['acquired']): boolean {
  return guild !== undefined && (!acquired || isFields(guild))
}

/** Where a guild has captured the place, a name alone or null does not say which one. */
function oddHolder(guild: Territory['guild']): OddField {
  const reason = 'a territory that was captured should have a guild with a uuid'
  return { place: ['guild'], value: guild, anywhere: '/guild', type: typeOf(guild), reason }
}

/** The uuid of the guild, or null. One of zeros alone names none. */
function holderUuid(guild: Territory['guild']): string | null {
  const sent = (typeof guild === 'object' && guild?.uuid) || null
  const uuid = sent && uuidText(sent)
  return uuid === '00000000-0000-0000-0000-000000000000' ? null : uuid
}

/**
 * The guild that holds it. The guild itself may be null, or only its fields; then it is unclaimed. Its capture lies not after the response,
 * by whose clock holds begin: the clock of the game may be ahead of that.
 */
function holdOf(
  territory: string,
  guild: Territory['guild'],
  acquired: Territory['acquired'],
  context: ResponseContext | undefined,
): Entity {
  const holder = typeof guild === 'object' ? guild : null
  const guildUuid = holderUuid(guild)
  const since = guildUuid === null ? null : (acquired ?? null)
  const isAhead = since !== null && context !== undefined && Date.parse(since) > context.observedAt
  return {
    key: territory,
    // The guild's name is not part of it: a guild that is renamed has not captured anything.
    document: { guild: guildUuid, acquired: since },
    root: {
      territory,
      guildUuid,
      guildName: guildUuid && holder?.name,
      guildPrefix: guildUuid && holder?.prefix,
      acquired: isAhead ? `${new Date(context.observedAt).toISOString().slice(0, -1)}000Z` : since,
    },
    parts: {},
    since,
  }
}

/** So old may a copy be that says that it is new, ms. */
const slack = 15 * 60_000

/**
 * Which of two holds is newer. One that was seen before it was acquired is dated by when it was seen. One that would have
 * begun well before the last response, which showed another, counts as older: one of the two responses is wrong. So does
 * another owner without a time: a field that one response leaves out has not changed. Where it was unclaimed, or an older hold was shown, and the hold before is
 * back with the same time of capture, that never ended.
 * @param lastSeen which instant the last accepted response speaks for
 */
export function compareHolds(
  before: unknown,
  after: unknown,
  { began, lastSeen, isReturn }: { readonly began: Date; readonly lastSeen: Date | null; readonly isReturn: boolean },
): 'newer' | 'older' | 'resumed' | 'less' {
  const [known, sent] = [before, after] as { guild: string | null; acquired: string | null }[]
  if (!known || !sent) return 'newer'
  // Without a time that can be believed, only a second response shows that the owner is another one.
  if (!sent.acquired && sent.guild !== null) return sent.guild === known.guild ? 'less' : 'older'
  if (!sent.acquired) return known.guild === null ? 'less' : 'newer'
  // An instant that is cut to seconds says less than it did.
  if (sent.guild === known.guild && known.acquired && isSameInstant(sent.acquired, known.acquired)) return 'less'
  const acquired = Date.parse(sent.acquired)
  // Held since then by its own time of capture: what responses showed meanwhile was from before.
  const isOlder = known.acquired !== null && Date.parse(known.acquired) < Math.min(acquired, began.getTime())
  if (isReturn && (known.guild === null || isOlder)) return 'resumed'
  // Two guilds never capture a place at once: one of the responses is wrong.
  if (sent.acquired === known.acquired) return 'older'
  if (lastSeen !== null && acquired < lastSeen.getTime() - slack) return 'older'
  if (!known.acquired) return 'newer'
  return acquired >= Math.min(Date.parse(known.acquired), began.getTime()) ? 'newer' : 'older'
}

/** Who holds it, and since when. */
export function agreementOf(document: Json): { holder: string; since: string | null } {
  const { guild, acquired } = document as { guild: string | null; acquired: string | null }
  return { holder: guild ?? '', since: acquired }
}

function resourceRows(territory: string, resources: Territory['resources']): Row[] {
  if (!Array.isArray(resources)) return []
  return resources.flatMap(({ type, generation, baseGeneration, stored, limit }) =>
    type ? [{ territory, resource: type, generation, baseGeneration, stored, storageLimit: limit }] : [],
  )
}

export function holdersOf(document: Json): string[] {
  const { guild } = document as { guild: string | null }
  return guild === null ? [] : [guild]
}
