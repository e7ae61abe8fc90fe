import type { Database } from '../../src/db/database.ts'
import { decompressed } from '../../src/sync/archive/bodies.ts'
import { guildBody, guildId, openMember, playerId, syncGuild } from './guild-answers.ts'
import { onlineBody, profile, syncOnline, syncPlayer } from './player-answers.ts'
import type { World } from './world.ts'

const characterId = (number: number) => `cccccccc-0000-4000-8000-${String(number).padStart(12, '0')}`

/** Values of player 1 that occur nowhere else, by the privacy rule that hides them; `x of y` is an x in a row that has y too. */
export const secrets = {
  mainAccess: ['70001', '70002', '70003', '70004', '2014-11-11'],
  onlineStatus: [`SECRET1 of ${playerId(1)}`, `SECRET2 of ${playerId(1)}`, '2015-12-12', characterId(9)],
  characterListAccess: [characterId(1), characterId(2), 'Quest Secret', '70011', '70012', '70013', '70014'],
  characterDataAccess: ['Quest Secret', '70011', '70012', '70013', '70014'],
  characterBuildAccess: ['70013'],
  huntedCharacterAccess: [characterId(2), '70014'],
  guildHighRankedAccess: ['70021'],
  guildHistoryAccess: [`${guildId('b')} of ${playerId(1)}`, 'Guild Before'],
} as const
export const characterRules = [
  'characterListAccess',
  'characterDataAccess',
  'characterBuildAccess',
  'huntedCharacterAccess',
]

export const mainFields = {
  firstJoin: '2014-11-11T00:00:00.000Z',
  playtime: 70001,
  globalData: { wars: 70002 },
  ranking: { level: 70003 },
}
const presence = { online: true, server: 'SECRET1', lastJoin: '2015-12-12T00:00:00.000Z' }
const hero = { type: 'MAGE', level: 40, gamemode: [] as string[], meta: { died: false }, restrictions: {} }
const characters = {
  [characterId(1)]: {
    ...hero,
    mobsKilled: 70011,
    professions: { fishing: { level: 70012, xpPercent: 1 } },
    skillPoints: { strength: 70013 },
    quests: ['Quest Secret'],
  },
  [characterId(2)]: { ...hero, gamemode: ['hunted'], wars: 70014 },
}
const guild = { uuid: guildId('a'), name: 'Guild a', prefix: 'aaa', rank: 'RECRUIT' }
const before = { uuid: guildId('b'), name: 'Guild Before', prefix: 'bbb', rank: 'RECRUIT' }

/** The profile of player 1 without any restriction. */
export const fullProfile = (fields: object = {}) => {
  const { lastJoin, ...rest } = presence
  return {
    ...profile(1, { ...mainFields, ...rest, activeCharacter: characterId(9), characters, guild, ...fields }),
    lastJoin,
  }
}
/** Player 1 as a member of guild a, without any restriction. */
export const fullMember = {
  ...openMember,
  ...presence,
  globalData: { wars: 70004 },
  weekly: { streak: 70021 },
  contributed: 5,
}
const another = { rank: 'owner', online: true, server: 'OTHER', globalData: { wars: 80004 } }
export const guildWithMember = (fields: object) => guildBody('a', { 1: { ...fields }, 2: another })

/** Syncs responses with everything that the API can give about player 1. */
export async function showEverything(world: World): Promise<void> {
  await syncGuild(world, guildBody('b', { 1: {}, 3: { rank: 'owner' } }), '08:00')
  for (const at of ['08:10', '08:20']) await syncGuild(world, guildBody('b', { 3: { rank: 'owner' } }), at)
  await syncPlayer(world, 1, fullProfile({ guild: before }), '08:30')
  await syncGuild(world, guildWithMember(fullMember), '09:00')
  await syncOnline(world, onlineBody({ SECRET1: [1] }), '09:10')
  await syncOnline(world, onlineBody({ SECRET2: [1] }), '09:11')
  await syncPlayer(world, 1, fullProfile(), '09:12')
}

/** The profile after a rule took effect: what it hides is absent, as the service leaves it out (API reference 7.3). */
export const profilesHiding: Readonly<Record<string, () => object>> = {
  mainAccess: () => without(fullProfile(), Object.keys(mainFields)),
  onlineStatus: () => ({ ...fullProfile(), online: false, server: null, lastJoin: null, activeCharacter: null }),
  characterListAccess: () => without(fullProfile(), ['characters']),
  characterDataAccess: () => ({ ...fullProfile(), characters: { [characterId(1)]: hero, [characterId(2)]: hero } }),
  characterBuildAccess: () => {
    const [one, two] = [characterId(1), characterId(2)]
    return {
      ...fullProfile(),
      characters: { ...characters, [one]: { ...characters[one], skillPoints: null }, [two]: hero },
    }
  },
  huntedCharacterAccess: () => ({ ...fullProfile(), characters: { [characterId(1)]: characters[characterId(1)] } }),
  guildHistoryAccess: () => fullProfile(),
}

export function without(record: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))
}

/** Tables that only count players. */
const counts = /world|guild_hour|guild_listing|game\.guild$|territory/

/** Columns of random digits, which might contain one of the values. */
const random = "'{run_id,backfill_id,hash,raw_hash,content_hash,document_hash,player_hash}'"

/** The tables and archived responses that contain one of the texts, as `table: text`; `x of y` is an x in a row that has y too. */
export async function whereStored(db: Database, texts: readonly string[]): Promise<string[]> {
  const tables = await db.query<{ name: string }>(
    `select relnamespace::regnamespace || '.' || quote_ident(relname) as name from pg_class
      where relkind in ('r', 'm') and relnamespace::regnamespace::text in ('game', 'sync', 'partitions')`,
  )
  const selects = tables
    .filter(({ name }) => !counts.test(name))
    .map(({ name }) => `select '${name}' as name, (to_jsonb(each) - ${random}::text[])::text as row from ${name} each`)
  const rows = await db.query<{ name: string; row: string }>(selects.join(' union all '))
  const bodies = await db.query<{ body: Uint8Array }>('select body from sync.raw_body')
  for (const { body } of bodies) rows.push({ name: 'raw answers', row: (await decompressed(body)).toString() })
  const has = (row: string, text: string) => text.split(' of ').every((one) => row.includes(one))
  const hits = rows.flatMap(({ name, row }) => texts.filter((text) => has(row, text)).map((text) => `${name}: ${text}`))
  return [...new Set(hits)]
}

/** The API says that this player hides the main access. */
export const closed = (number: number): object => profile(number, { restrictions: { mainAccess: true } })

/** What a database has of restrictions: the rules of players, what was removed for them, and what guards said; and how many rows a table has. */
export const restrictionsIn = ({ rows }: Pick<World, 'rows'>) => ({
  pending: () => rows('select field_group, is_pending, is_held, since from sync.privacy_restriction order by 1, 4'),
  actions: () => rows('select field_group, policy from sync.privacy_action order by at'),
  guards: () =>
    rows(
      `select guard, action from sync.guard_action where guard in ('mass-restriction', 'credential') order by at, 1`,
    ),
  count: async (table: string) => Number((await rows(`select count(*)::int from ${table}`))[0]?.[0]),
})
