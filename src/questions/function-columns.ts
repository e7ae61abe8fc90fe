/**
 * What the columns of functions mean, with their units: Postgres keeps comments on columns of tables and views alone. By name, or
 * by `function.name` where one differs.
 */
const meanings: Readonly<Record<string, string>> = {
  at: 'The instant, UTC: the beginning of the step, or when it changed.',
  'world_event_schedule.at': 'When it begins, UTC.',
  day: 'The day, UTC.',
  hour: 'The full hour, UTC.',
  'guild_online_heatmap.hour': 'Hour of the day, 0 .. 23 UTC.',
  dow: 'Day of the week, 1 Monday .. 7 Sunday.',
  valid_from: 'From when it was so, UTC.',
  valid_until: 'Until when it was so, UTC; NULL while it is.',
  observed_at: 'The first response that showed it so, UTC.',
  coverage: 'The share of that time for which responses speak, 0 .. 1; NULL where none was expected.',
  'season_rating.coverage': 'The share of the season until as_of for which the map was watched, 0 .. 1.',
  'coverage.coverage': 'The share of the expected observations that exist, 0 .. 1; NULL where none were expected.',
  reason: 'Why a number is NULL or too small; NULL when none is.',
  'member_activity.reason': 'Why the status is unknown; NULL when it is known.',
  'leaderboard_at.reason':
    'Why the place has no name: redacted, unreadable, removed for privacy, not observed, or only the end of the day is kept.',
  'loot_pool_at.reason':
    'Why it is not known what the pool had: not sent (the API did not send it) or not observed (no response is of that time); NULL: it is known.',

  territory: 'Exact name of the territory.',
  guild_uuid: 'The guild; NULL without one.',
  guild_name: "The guild's name then.",
  guild_prefix: "The guild's prefix then.",
  guild_rank: 'The rank in that guild.',
  held_from: 'When it was captured, UTC.',
  held_until: 'When the hold ended, UTC; NULL while it is current.',
  confirmed_until: 'The last response that showed it so, UTC.',
  'territory_owner_at.reason':
    'not observed: no response is of that time, and the next one shows another hold, or there is none; NULL: it is known.',
  'map_at.reason':
    'not observed: no response is of that time, and the next one shows another hold, or there is none; NULL: it is known.',
  territories: 'How many territories it held, or of how many it is not known who did.',
  'guild_territory_count.reason': 'not observed: who held so many territories then is not known; NULL: it is.',
  'territory_storage.reason':
    'not observed: no response is of that time; only the end of the hour is kept: retention has removed the others; NULL: it is known.',
  attacker_uuid: 'The guild that took.',
  attacker: 'Its latest name.',
  defender_uuid: 'The guild that lost; NULL where there was no owner.',
  defender: 'Its latest name; NULL where there was no owner.',
  captures: 'How many times it took one.',

  reported_rating: 'The rating that the guild reported, in points.',
  holding_estimate: 'What is explained by holding territories, in points.',
  war_estimate: 'What is explained by wars, in points.',
  as_of: 'The last response about the guild, or the end of the season, UTC.',
  resource: 'EMERALD, ORE, WOOD, FISH or CROP.',
  stored: 'What was stored; emeralds or pieces.',
  storage_limit: 'What can be stored; emeralds or pieces.',
  generation: 'What is produced in an hour; emeralds or pieces.',
  treasury: 'VERY_LOW .. VERY_HIGH; grows with the time held.',
  defences: 'VERY_LOW .. VERY_HIGH.',
  is_hq: "Whether it was the guild's headquarters.",

  player_uuid: 'The player.',
  'gained.entity': 'Uuid of the guild or player; of a character player/character.',
  'gained.name': 'The latest name.',
  'top_gained.entity': 'Uuid of the guild or player; of a character player/character.',
  'top_gained.name': 'The latest name.',
  'top_gained.found_by':
    'all: all whose counter changed were compared; instants: one that began again in between may be missing.',
  'first_to.entity': 'Uuid of the guild or player; of a character player/character.',
  'first_to.name': 'The latest name.',
  'first_to.at': 'The first response that showed so much, UTC.',
  not_before: 'The last response that showed less, UTC; NULL where none did.',
  period: 'day, week or month.',
  from_time: 'When that day, week or month began, UTC; NULL when nothing is known.',
  gained: 'By how much the counter rose, in its own unit; NULL when unknown.',
  value: 'What the counter was at the instant; NULL where no response lies close before.',
  username: "The player's name.",
  rank: 'The rank in the guild.',
  last_seen: 'End of the last time online, or the last login that the API gives, UTC.',
  days_inactive: 'Days from last_seen to the instant.',
  status: 'active (seen in the last seven days), inactive or unknown.',
  contributed: 'Experience, in points, that responses show to be contributed; NULL when unknown.',
  share: "The member's share of what all contributed, 0 .. 1; NULL unless that is known of all.",
  position: 'Place among the members, 1 for the most; NULL when unknown.',
  'route_between.position': 'Place on the way, 1 for the first territory.',
  'route_between.reason':
    'Without a territory: why the routes are not known, not observed or not sent; else not observed: who held it then is not known. NULL: it is known.',
  quality: 'exact, at_least, clamped, reset or unknown: see above.',
  delta: 'By how much the counter rose, in its own unit; NULL when unknown.',
  at_most: 'The most that it can be, where that can be known.',
  'leaderboard_history.delta': "The score less the one before, in the board's unit; NULL for the first.",
  joined_in: 'The month, UTC.',
  joined: 'How many joined.',
  still_after_30d: 'How many of them were there 30 days later; NULL when it is too soon.',
  still_after_90d: 'How many of them were there 90 days later; NULL when it is too soon.',
  unknown_after_30d:
    'Of how many of them it is not known whether they were there 30 days later: it is too soon, or no response came around then.',
  unknown_after_90d: 'The same, 90 days later.',

  world: 'Name of the world.',
  online_avg: 'Players, the average over the time that was watched.',
  'guild_online_heatmap.online_avg': 'Members online, the average over the hours with a response.',
  online_max: 'Players, the most at once.',
  'guild_online_heatmap.online_max': 'Members online, the most at once.',
  total_avg: 'Players online, hidden ones included: the average over the time that was watched.',
  total_max: 'Players online, hidden ones included: the most at once.',
  hidden_avg: 'Players who hide: the average over the time that was watched.',
  seconds_min: 'Seconds online at least.',
  seconds_max: 'Seconds online at most.',
  seconds_estimate: 'Seconds online, one likely number between the two.',

  item_at: "The item as JSON, in the API's own shape.",
  recipe_at: "The recipe as JSON, in the API's own shape.",
  class_at: "The class as JSON, in the API's own shape.",
  ability_at: "The ability as JSON, in the API's own shape.",
  raid_at: "The raid as JSON, in the API's own shape.",
  camp_at: "The camp as JSON, in the API's own shape.",
  internal_name: 'The internal name.',
  type: 'What the recipe makes.',
  skill: 'The profession.',
  level_min: 'Lowest level of what is made.',
  level_max: 'Highest level of what is made.',
  amount: 'How many.',

  expected: 'Observations that were expected; NULL where no schedule was known.',
  observed: 'Accepted responses; of a worklist those about all its keys.',
  unchanged: 'Those of them that changed nothing.',
  partial: 'Those of them that were not complete.',
  rejected: 'Responses that failed validation.',
  stale: 'Responses older than what was known.',
  missed: 'Expected observations that were not made.',
  imported: 'The share of the hour that another database observed and this one did not, known from its lake, 0 .. 1.',

  pool: 'Name of the pool.',
  kind: 'CAMP or RAID.',
  'leaderboard_at.kind': 'guild or player: what the board ranks.',
  reward_type: 'What kind of thing the reward is.',
  reward: 'Name of the reward.',
  tier: 'Its tier; NULL when it has none.',
  shiny: 'Whether it is a shiny one.',
  always: 'Whether the pool always has it.',
  since: 'From when on the pool had it, UTC.',
  name: 'The name.',
  level: 'The level it is meant for.',
  'gathering_near.level': 'The profession level that it requires.',
  node: 'What is gathered there, such as OAK.',
  x: 'East of the centre of the map, in blocks.',
  y: 'Height, in blocks.',
  z: 'South of the centre of the map, in blocks.',
  distance: 'Distance on the map, in blocks.',
  difficulty: 'The difficulty.',
  announced_at: 'The first response that gave this time, UTC.',
  place: 'The place, 1 for the first; NULL when it is on none.',
  entity: 'Uuid of the guild or player; NULL where the place has no name.',
  entity_uuid: 'Uuid of the guild or player.',
  score: "The score, in the board's unit.",
  character_uuid: 'The character, of a board that ranks characters.',
}

/** What a column of a function means; null for parts that only other questions use. */
export function meaningOf(question: string, column: string): string | null {
  return meanings[`${question}.${column}`] ?? meanings[column] ?? null
}

const qualities = ['exact', 'at_least', 'clamped', 'reset', 'unknown']
const counterKinds = ['guild', 'member', 'player', 'character', 'profession', 'leaderboard']

/** All values of columns and arguments that the questions make themselves. What the API sends is not among them: it may send more. */
const closedSets: Readonly<Record<string, readonly string[]>> = {
  'member_activity.status': ['active', 'inactive', 'unknown'],
  'membership_event.event': ['joined', 'left', 'promoted', 'demoted', 'transferred'],
  'world_lifecycle.event': ['up', 'down'],
  'patch.kind': ['game', 'format'],
  'freshness.last_status': ['ok', 'unchanged', 'partial', 'stale', 'rejected', 'interrupted', 'failed'],
  'leaderboard_at.kind': ['guild', 'player'],
  'top_gained.found_by': ['all', 'instants'],
  'best.period': ['day', 'week', 'month'],
  'territory_record.quality': ['exact', 'at_least'],
  'item_drop_place.kind': ['place', 'creature'],
  'player_evidence.told_by': ['player', 'guild'],
  'counter.kind': counterKinds,
  ...Object.fromEntries(
    ['gained', 'top_gained', 'timeline', 'best', 'first_to'].map((one) => [`${one}.kind`, counterKinds]),
  ),
  ...Object.fromEntries(
    ['member_contribution', 'member_counter', 'gained', 'top_gained', 'timeline', 'best'].map((one) => [
      `${one}.quality`,
      qualities,
    ]),
  ),
}

/** The values that a column or an argument of a question may have; undefined where they are not known. */
export function valuesOf(question: string, name: string): readonly string[] | undefined {
  return closedSets[`${question}.${name}`]
}

/** The names that have a meaning here. */
export const describedColumns = (): string[] => Object.keys(meanings)
