import { createHash } from 'node:crypto'
import type { Database, SqlValue } from '../../../src/db/database.ts'
import type { Extent } from './draws.ts'

/** One question as a person asks it. */
export interface Call {
  /** The view or function. */
  readonly question: string
  /** About whom and how much of time. */
  readonly of: string
  readonly text: string
  readonly values: readonly SqlValue[]
}

const hours = { hour: 1, day: 24, week: 168, month: 720, season: 1080, year: 8760 }
type Period = keyof typeof hours

/** The questions of a person who knows the game: about his guild, a rival's territory, last week. */
export async function callsOf(db: Database, { until, days, guilds }: Extent): Promise<Call[]> {
  const { player, name } = await regularPlayer(db)
  const guild = (number: number) => {
    const hex = createHash('md5').update(`guild ${number}`).digest('hex')
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  }
  // The smallest of those that fight.
  const [large, small] = [guild(0), guild(Math.min(60, guilds) - 1)]
  const sizes = { large, small }
  const at = until.toISOString()
  const ago = (period: Period) => new Date(until.getTime() - hours[period] * 3_600_000).toISOString()
  const calls: Call[] = []
  const ask = (question: string, of: string, text: string, values: readonly SqlValue[]) =>
    calls.push({ question, of, text, values })
  /** A function of two instants, over several periods. */
  const over = (
    question: string,
    periods: readonly Period[],
    given: (from: string) => readonly SqlValue[],
    of = '',
  ) => {
    for (const period of periods) {
      if (hours[period] > days * 24) continue
      const values = given(ago(period))
      const places = values.map((_, nth) => `$${nth + 1}`).join(', ')
      ask(question, [of, period].join(' ').trim(), `select * from analytics.${question}(${places})`, values)
    }
  }

  ask('territory_owner_at', 'a day ago', 'select * from analytics.territory_owner_at($1, $2)', [
    'Territory 7',
    ago('day'),
  ])
  ask(
    'territory_hold',
    'longest of a territory',
    'select * from analytics.territory_hold where territory = $1 order by held_for desc limit 10',
    ['Territory 7'],
  )
  ask(
    'territory_hold',
    'current',
    'select * from analytics.territory_hold where is_current order by held_for desc limit 10',
    [],
  )
  ask(
    'territory_hold',
    'large guild, a week',
    'select * from analytics.territory_hold where guild_uuid = $1 and held_from >= $2 order by held_from desc limit 50',
    [large, ago('week')],
  )
  ask('territory_capture', 'latest', 'select * from analytics.territory_capture order by captured_at desc limit 20', [])
  ask(
    'territory_capture',
    'a day',
    'select * from analytics.territory_capture where captured_at >= $1 order by captured_at desc limit 100',
    [ago('day')],
  )
  ask(
    'territory_capture',
    'of a territory',
    'select * from analytics.territory_capture where territory = $1 order by captured_at desc limit 50',
    ['Territory 7'],
  )
  ask(
    'territory_capture',
    'by a large guild, a week',
    'select * from analytics.territory_capture where to_guild_uuid = $1 and captured_at >= $2 order by captured_at desc limit 50',
    [large, ago('week')],
  )
  ask(
    'territory_capture',
    'recaptures, a week',
    'select count(*) from analytics.territory_capture where captured_at >= $1 and is_recapture',
    [ago('week')],
  )
  over('capture_matrix', ['day', 'week', 'month', 'year'], (from) => [from, at])
  ask('map_at', 'a day ago', 'select * from analytics.map_at($1)', [ago('day')])
  const stepped = (period: Period, step: string) =>
    days * 24 >= hours[period] &&
    ask(
      'guild_territory_count',
      `${period} by ${step}`,
      'select * from analytics.guild_territory_count($1, $2, $3::text::interval)',
      [ago(period), at, `1 ${step}`],
    )
  for (const [period, step] of [
    ['day', 'hour'],
    ['week', 'hour'],
    ['month', 'day'],
    ['year', 'week'],
  ] as const)
    stepped(period, step)
  ask('season_rating', 'current', 'select * from analytics.season_rating($1)', [30 + Math.floor((days - 0.01) / 45)])
  if (days >= 90)
    ask('season_rating', 'the one before', 'select * from analytics.season_rating($1)', [
      29 + Math.floor((days - 0.01) / 45),
    ])
  over('territory_economy', ['day', 'week'], (from) => [small, from, at], 'small guild')
  over('territory_economy', ['hour'], (from) => [large, from, at], 'large guild')
  for (const [size, uuid] of Object.entries(sizes)) {
    ask('member_activity', `${size} guild`, 'select * from analytics.member_activity($1, $2)', [uuid, at])
    over('member_contribution', ['day', 'week', 'month', 'year'], (from) => [uuid, from, at], `${size} guild`)
    over('member_retention', ['month', 'year'], (from) => [uuid, from, at], `${size} guild`)
    over('guild_online_heatmap', ['week', 'month', 'year'], (from) => [uuid, from, at], `${size} guild`)
    over('member_counter', ['week', 'year'], (from) => [uuid, 'wars', from, at], `${size} guild`)
    ask(
      'membership_event',
      `${size} guild`,
      'select * from analytics.membership_event where guild_uuid = $1 order by at desc limit 50',
      [uuid],
    )
    ask('guild_member', `${size} guild`, 'select * from analytics.guild_member where guild_uuid = $1', [uuid])
  }
  ask(
    'membership_event',
    'of a player',
    'select * from analytics.membership_event where player_uuid = $1 order by at desc',
    [player],
  )
  over('world_peak', ['day', 'week', 'month'], (from) => [from, at])
  ask('world_lifecycle', 'latest', 'select * from analytics.world_lifecycle order by at desc limit 50', [])
  for (const [period, step] of [
    ['day', 'hour'],
    ['week', 'hour'],
    ['month', 'day'],
    ['year', 'week'],
  ] as const)
    if (days * 24 >= hours[period])
      ask('online_total', `${period} by ${step}`, 'select * from analytics.online_total($1, $2, $3::text::interval)', [
        ago(period),
        at,
        `1 ${step}`,
      ])
  ask(
    'player_session',
    'of a player',
    'select * from analytics.player_session where player_uuid = $1 order by login_latest desc limit 20',
    [player],
  )
  ask(
    'player_session',
    'by name',
    'select * from analytics.player_session where username = $1 order by login_latest desc limit 20',
    [name],
  )
  over('player_playtime', ['day', 'week', 'month', 'year'], (from) => [player, from, at])
  ask('player_biography', 'of a player', 'select * from analytics.player_biography($1)', [player])
  ask('player', 'by name', 'select * from analytics.player where username = $1', [name])
  ask(
    'item_change',
    'of the last patch',
    'select * from analytics.item_change where patch = (select max(patch) from analytics.patch) and not is_revert',
    [],
  )
  ask(
    'item_change',
    'of an item',
    `select * from analytics.item_change where internal_name = (select key from game.field_change where resource = 'items' limit 1) order by changed_at desc`,
    [],
  )
  ask(
    'recipe_change',
    'of the last patch',
    'select * from analytics.recipe_change where patch = (select max(patch) from analytics.patch)',
    [],
  )
  for (const [size, uuid] of Object.entries(sizes)) {
    over('gained', ['day', 'month', 'year'], (from) => ['guild', 'wars', uuid, from, at], `${size} guild`)
    ask('best', `${size} guild`, 'select * from analytics.best($1, $2, $3)', ['guild', 'wars', uuid])
  }
  over('gained', ['day', 'month', 'year'], (from) => ['player', 'wars', player, from, at], 'player')
  for (const [period, step] of [
    ['day', 'hour'],
    ['month', 'day'],
    ['year', 'week'],
  ] as const)
    if (days * 24 >= hours[period])
      ask(
        'timeline',
        `large guild, ${period} by ${step}`,
        `select * from analytics.timeline('guild', 'wars', $1, $2, $3, $4::text::interval)`,
        [large, ago(period), at, `1 ${step}`],
      )
  for (const [kind, counter, value] of [
    ['guild', 'wars', 20],
    ['member', 'contributed', 1000],
    ['player', 'wars', 2],
  ] as const) {
    // Players are asked for once a week.
    over(
      'top_gained',
      kind === 'player' ? ['month', 'year'] : ['day', 'month', 'year'],
      (from) => [kind, counter, from, at],
      `${kind}s`,
    )
    ask('first_to', `${kind}s`, 'select * from analytics.first_to($1, $2, $3)', [kind, counter, value])
  }
  ask('counter', 'all', 'select * from analytics.counter', [])
  ask('item_at', 'a week ago', 'select analytics.item_at((select internal_name from game.item limit 1), $1)', [
    ago('week'),
  ])
  ask('recipe_at', 'a week ago', 'select analytics.recipe_at((select internal_name from game.recipe limit 1), $1)', [
    ago('week'),
  ])
  ask('patch', 'all', 'select * from analytics.patch order by patch desc', [])
  ask(
    'recipes_using',
    'a material',
    'select * from analytics.recipes_using((select item from game.recipe_material limit 1))',
    [],
  )
  ask('item', 'bows', `select * from analytics.item where sub_type = 'bow' and level > 80`, [])
  ask(
    'item_identification',
    'by what it gives',
    `select display_name, min, max from analytics.item_identification where identification = 'rawStrength' and max > 10`,
    [],
  )
  ask('recipe', 'by level', 'select * from analytics.recipe where level_min <= 50 order by level_min desc limit 20', [])
  ask('territory', 'all', 'select * from analytics.territory', [])
  ask('guild', 'by name', 'select * from analytics.guild where name = $1', ['Guild 3'])
  ask('world', 'all', 'select * from analytics.world', [])
  for (const resource of ['territories', 'online-players', 'guilds'])
    over('coverage', ['day', 'week', 'month'], (from) => [resource, from, at], resource)
  ask('freshness', 'all', 'select * from analytics.freshness', [])
  return calls
}

/** Somebody of the large guild who plays about three times a day. */
async function regularPlayer(db: Database): Promise<{ player: string; name: string }> {
  const [found] = await db.query<{ player: string; name: string }>(
    `select member.player_uuid::text as player, member.username as name
       from game.guild_member member
      cross join lateral (select count(*) as visits from game.player_listing where player_uuid = member.player_uuid) one
      where member.valid_until = 'infinity' and member.username is not null
      order by one.visits desc, member.player_uuid limit 1`,
  )
  if (!found) throw new Error('nobody is a member of a guild')
  return found
}
