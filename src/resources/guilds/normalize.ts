import { isInstant, isUuid, uuidText } from '../../api/schemas/form/limits.ts'
import { misfitOf, type OddField, readLeniently, typeOf } from '../../api/schemas/form/record.ts'
import { fieldsOf, isFields } from '../../api/schemas/form/unknown.ts'
import {
  type Guild,
  type GuildMember,
  guildMemberSchema,
  guildSchema,
  membersOf,
  memberTotal,
  parseGuild,
  parseGuildMember,
} from '../../api/schemas/guilds.ts'
import { type RedactedCounts, redactedIn } from '../../api/schemas/people/redacted.ts'
import { readRestrictions } from '../../api/schemas/people/restrictions.ts'
import { RecordError } from '../../base/errors.ts'
import {
  type Entity,
  type IgnoredInstant,
  type Normalized,
  possible,
  type QuarantinedPart,
  type ResponseContext,
  type Row,
} from '../../sync/declare/resource.ts'
import {
  fieldOf,
  instantOf,
  numbersIn,
  omit,
  readableOf,
  recordError,
  unnamedIn,
  uuidField,
  withPossible,
} from '../record.ts'
import type { guildHistory } from './tables.ts'

/** A member with the key and rank that its place in the answer gives it. */
interface PlacedMember {
  readonly playerUuid: string
  readonly username: string | null
  readonly rank: string
  readonly hides: readonly string[]
  readonly member: GuildMember
  /** What of the record could not be read. */
  readonly odd: readonly OddField[]
}

/** One guild's whole answer into rows: its profile and each membership as history, everything counted as samples. */
export function normalizeGuild(record: unknown, context?: ResponseContext): Normalized<typeof guildHistory> {
  const {
    value: guild,
    odd,
    hasAll,
  } = readableOf(record, (one) => withPossible(parseGuild(one), context, 'created'), ['uuid'])
  const rest = omit(guild, 'members', ...numbersOfGuild)
  const { seasonRanks, ranking, ...profile } = rest
  const ignored: IgnoredInstant[] = []
  const guildUuid = uuidText(guild.uuid)
  const { placed, quarantined } = placeMembers(guild, context, ignored)
  // What a member hides is not sent either.
  const shown: Row[] = []
  for (const { playerUuid, hides, member, odd: unread } of placed)
    if (isFields(member.globalData) && hides.length + unread.length === 0) shown.push({ guildUuid, playerUuid })
  return {
    key: guildUuid,
    document: { ...profile, ...unnamedRanks(guild), uuid: guildUuid } as Entity['document'],
    root: {
      guildUuid,
      name: guild.name,
      prefix: guild.prefix,
      createdAt: guild.created,
      bannerBase: guild.banner?.base,
      bannerTier: guild.banner?.tier,
      bannerStructure: guild.banner?.structure,
    },
    parts: {
      layers: (guild.banner?.layers ?? []).map(({ colour, color, pattern }, position) => ({
        position,
        colour: colour ?? color,
        pattern,
      })),
    },
    relatedEntities: { members: placed.map((one) => membership(guildUuid, one)) },
    samples: {
      // A number that cannot be read is not null: then nothing is said of the others either.
      guild: hasAll(...numbersOfGuild) ? [guildNumbers(guild, placed, redactedIn(record))] : [],
      seasons: Object.entries(seasonRanks ?? {}).flatMap(([season, rank]) =>
        rank && SEASON.test(season)
          ? [{ guildUuid, season: Number(season), rating: rank.rating, finalTerritories: rank.finalTerritories }]
          : [],
      ),
      rankings: Object.entries(ranking ?? {}).map(([board, position]) => ({ guildUuid, board, position })),
      counters: placed.flatMap((one) => counters(guildUuid, one)),
      presence: placed.map((one) => presence(guildUuid, one)),
    },
    lists: {
      seasons: isFields(seasonRanks) ? [{ guildUuid }] : [],
      rankings: isFields(ranking) ? [{ guildUuid }] : [],
      counters: shown,
    },
    ignored,
    odd: [...odd, ...misplaced(guild)],
    quarantined,
  }
}

const unnamedRanks = unnamedIn(guildSchema, ['seasonRanks', 'ranking'])
const unnamedWeekly = unnamedIn(guildMemberSchema, ['weekly'])
const unnamedTotals = unnamedIn(guildMemberSchema, ['globalData'], true)

const SEASON = /^\d{1,6}$/

/** Ranks of seasons without a number, and what stands among the members and is no map of them. */
function misplaced({ seasonRanks, members }: Guild): readonly OddField[] {
  const seasons = fieldsOf(seasonRanks).filter(([season, rank]) => rank && !SEASON.test(season))
  const ranks = fieldsOf(members).filter(([rank, one]) => rank !== 'total' && one !== null && !isFields(one))
  return [
    ...seasons.map((one) => ['seasonRanks', 'a season without a number', one] as const),
    ...ranks.map((one) => ['members', 'the members of a rank are no map', one] as const),
  ].map(([field, reason, [name, value]]) => {
    return { place: [field, name], value, reason, anywhere: `/${field}/*`, type: typeOf(value) }
  })
}

const numbersOfGuild = ['level', 'xpPercent', 'territories', 'wars', 'raids', 'online'] as const

/** Why a guild's answer is not all of the guild, or undefined when it is: 28 of 48 members have been met elsewhere. */
export function incompleteReason(record: unknown): string | undefined {
  const total = memberTotal(record as Guild)
  const came = membersOf(record as Guild).length
  if (total !== null && total !== came) return `the guild has ${total} members by its own count, ${came} came`
  return came === 0 ? 'a guild without members: at least its owner should be there' : undefined
}

/** The map is keyed by username or by uuid; the record carries the other one. A member that cannot be read is quarantined. */
function placeMembers(
  guild: Guild,
  context: ResponseContext | undefined,
  ignored: IgnoredInstant[],
): { placed: PlacedMember[]; quarantined: QuarantinedPart[] } {
  const uuids = membersOf(guild).map(({ key, record }) => uuidOf(key, record))
  // Of those that come more than once it cannot be known which place is the right one.
  const twice = new Set(uuids.filter((uuid, nth) => uuid !== undefined && uuids.indexOf(uuid) !== nth))
  const placed: PlacedMember[] = []
  const quarantined: QuarantinedPart[] = []
  for (const { rank, key, record } of membersOf(guild)) {
    const path = `/members/${rank}/${key}`
    try {
      const { value: member, odd } = readLeniently(record, readMember, ['uuid', 'joined'])
      const playerUuid = uuidText(member.uuid ?? key)
      if (!isUuid(playerUuid)) throw recordError('/uuid', 'a member without a uuid')
      if (twice.has(playerUuid)) throw recordError('/uuid', 'a member in two places')
      const username = member.username ?? (isUuid(key) ? null : key)
      const joined = possible(member.joined, context, ignored, { field: 'joined' })
      const lastJoin = possible(member.lastJoin, context, ignored, { field: 'lastJoin' })
      const dated = { ...member, joined, lastJoin }
      // Ranks are sent in small letters here and in capitals elsewhere: the case says nothing.
      const { names: hides, odd: oddRules } = readRestrictions(record)
      const below = [...odd, ...oddRules, ...(member.contributed === null ? [uncounted] : [])].map((one) => ({
        ...one,
        anywhere: `/members/*/*${one.anywhere}`,
      }))
      placed.push({ playerUuid, username, rank: rank.toLowerCase(), hides, member: dated, odd: below })
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      const uuid = uuidOf(key, record)
      const known = uuid === undefined ? undefined : `${uuidText(guild.uuid)}/${uuid}`
      const misfit = misfitOf(error, '/members/*/*')
      const { message: reason, context } = error
      quarantined.push({ key: known, raw: record, path: path + String(context.path ?? ''), reason, misfit })
    }
  }
  return { placed, quarantined }
}

/** What every member has contributed is a number: where it is null, it is not known. */
const uncounted: OddField = {
  place: ['contributed'],
  value: null,
  anywhere: '/contributed',
  type: 'null',
  reason: 'a member who has contributed no number',
}

/** @throws RecordError with the JSON pointer of the first thing that is no guild member */
function readMember(record: unknown): GuildMember {
  const when = fieldOf(record, 'joined')
  const at = instantOf(when)
  const member = parseGuildMember(at === when ? record : { ...Object(record), joined: at })
  for (const field of ['joined', 'lastJoin'] as const)
    if ((member[field] ?? null) !== null && !isInstant(member[field]))
      throw recordError(`/${field}`, `${field} must be an instant (ISO 8601)`)
  return member
}

function uuidOf(key: string, record: unknown): string | undefined {
  return [uuidField(record, 'uuid'), uuidText(key)].find((one) => one !== undefined && isUuid(one))
}

/** What makes a membership this one: who, under which rank and name, since when, and what is hidden. */
function membership(guildUuid: string, { playerUuid, username, rank, hides, member, odd }: PlacedMember): Entity {
  const lasting = omit(member, 'online', 'lastJoin', 'server')
  const named = omit(lasting, 'contributed', 'contributionRank', 'weekly', 'globalData')
  const rest = { ...named, ...unnamedWeekly(member), ...unnamedTotals(member) }
  return {
    key: `${guildUuid}/${playerUuid}`,
    document: { ...rest, uuid: playerUuid, username, rank, restrictions: hides } as Entity['document'],
    root: { guildUuid, playerUuid, username, rank, joined: member.joined, restricted: hides },
    parts: {},
    odd,
  }
}

/** @param redacted what was counted of members who were removed from an archived response later */
function guildNumbers(guild: Guild, placed: readonly PlacedMember[], redacted: RedactedCounts): Row {
  const { uuid: guildUuid, level, xpPercent, territories, wars, raids, online } = guild
  const sent = { guildUuid, level, xpPercent, territories, wars, raids, online }
  // Every guild has an owner: without members the response does not say how many there are.
  if (membersOf(guild).length + redacted.members === 0)
    return { ...sent, members: memberTotal(guild) || null, onlineListed: null, hidden: null }
  return {
    ...sent,
    members: (memberTotal(guild) ?? placed.length) + redacted.members,
    onlineListed: placed.filter(({ member }) => member.online === true).length + redacted.online,
    hidden: placed.filter(({ hides }) => hides.includes('onlineStatus')).length + redacted.hidden,
  }
}

/** Everything that is counted about a member. What is hidden is not sent, and gives no sample: it is not zero. */
function counters(guildUuid: string, { playerUuid, member }: PlacedMember): Row[] {
  const { contributed, weekly, globalData } = member
  const { completed, streak } = weekly ?? {}
  // 1 for a week whose aim is reached, 0 before.
  const ofWeek = { streak, completed: typeof completed === 'boolean' ? Number(completed) : undefined }
  const counted = numbersIn({ contributed, weekly: ofWeek, ...globalData })
  return counted.map(([counter, value]) => ({ guildUuid, playerUuid, counter, value }))
}

/** `online: false` of a member who hides it means nothing. */
function presence(guildUuid: string, { playerUuid, hides, member }: PlacedMember): Row {
  if (hides.includes('onlineStatus')) return { guildUuid, playerUuid, online: null, server: null, lastJoin: null }
  return { guildUuid, playerUuid, online: member.online, server: member.server, lastJoin: member.lastJoin }
}
