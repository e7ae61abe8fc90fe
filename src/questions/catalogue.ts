/** A question that people ask, and the views and functions that answer it. */
interface Topic {
  /** `1` .. `15`, or a word for what is no question. */
  readonly number: string
  readonly title: string
  readonly names: readonly string[]
}

/** What can be asked, in the order of every list. */
export const topics: readonly Topic[] = [
  { number: '1', title: 'Who held a territory at an instant?', names: ['territory_owner_at'] },
  { number: '2', title: 'How long was it held?', names: ['territory_hold'] },
  { number: '3', title: 'Who captured what, and who takes from whom?', names: ['territory_capture', 'capture_matrix'] },
  { number: '4', title: 'The map at a moment; empires over time', names: ['map_at', 'guild_territory_count'] },
  { number: '5', title: 'What explains a season rating?', names: ['season_rating'] },
  {
    number: '6',
    title: 'What moved in the economy of a guild, and what did a territory store?',
    names: ['territory_economy', 'territory_storage', 'territory_standing'],
  },
  { number: '7', title: 'Who is inactive?', names: ['member_activity'] },
  { number: '8', title: 'Who contributed how much?', names: ['member_contribution'] },
  {
    number: '9',
    title: 'Who joined, left, was promoted; who stays?',
    names: ['membership_event', 'member_retention'],
  },
  { number: '10', title: 'When is a guild online?', names: ['guild_online_heatmap'] },
  {
    number: '11',
    title: 'When are worlds full, up and down; how many hide?',
    names: ['world_peak', 'world_lifecycle', 'online_total'],
  },
  {
    number: '12',
    title: "A player's sessions, playtime, names and guilds",
    names: ['player_session', 'player_playtime', 'player_biography'],
  },
  { number: '13', title: 'Wars and raids of each member', names: ['member_counter'] },
  {
    number: '14',
    title: 'What changed in items and recipes; what were they?',
    names: ['item_change', 'recipe_change', 'item_at', 'recipe_at', 'patch', 'recipes_using'],
  },
  { number: '15', title: 'How complete and fresh is all this?', names: ['coverage', 'freshness'] },
  {
    number: '16',
    title: 'What is in the loot pools, and when was it there before?',
    names: ['loot_pool_at', 'reward_appearance'],
  },
  { number: '17', title: 'When does a world event run?', names: ['world_event_schedule'] },
  {
    number: '18',
    title: 'What did a balance patch change?',
    names: ['ability_change', 'aspect_change', 'quest_change'],
  },
  { number: '19', title: 'Who was first when?', names: ['leaderboard_at', 'leaderboard_history'] },
  { number: '20', title: 'What was published, edited, removed?', names: ['news'] },
  { number: '21', title: 'How much did something gain?', names: ['gained'] },
  { number: '22', title: 'Who gained most?', names: ['top_gained'] },
  { number: '23', title: 'How did a counter develop?', names: ['timeline'] },
  { number: '24', title: 'Which day was the best; who was first to?', names: ['best', 'first_to'] },
  { number: '25', title: 'What counters are there?', names: ['counter'] },
  { number: '26', title: 'What are the records of the map?', names: ['territory_record'] },
  { number: '27', title: 'Where does an item drop; what is in a set?', names: ['item_drop_place', 'item_set'] },
  {
    number: '28',
    title: 'Where is something gathered; how do I get there?',
    names: ['gathering_near', 'route_between'],
  },
  {
    number: '29',
    title: 'What was a class, ability, raid or camp?',
    names: ['class_at', 'ability_at', 'raid_at', 'camp_at'],
  },
  {
    number: 'now',
    title: 'The current state',
    names: ['item', 'item_identification', 'recipe', 'territory', 'guild', 'guild_member', 'player', 'world'],
  },
]

/** Whether a view shows what there is now. */
export function isCurrent({ name }: { readonly name: string }): boolean {
  return topics.some(({ number, names }) => number === 'now' && names.includes(name))
}

/** Where a name belongs that no topic names: what questions are made of. */
export const rest = { number: 'parts', title: 'Parts of the views and functions above' }

/** The rows of each table, current ones and those with their past. */
export const recorded = { number: 'recorded', title: 'Everything that is recorded' }

interface Named {
  readonly name: string
  readonly comment: string | null
}

/**
 * The table of a view that shows just its rows, and the resource that fills it; undefined of any other view. Its comment, which is
 * made from the declaration, says so.
 */
export function recordedIn({ comment }: Named): { readonly table: string; readonly resource?: string } | undefined {
  const [, table, resource] =
    /(?:Current|Latest|All) rows of (game\.\w+)(?:, from ([\w-]+))?\.$/.exec(comment ?? '') ?? []
  return table === undefined ? undefined : { table, ...(resource === undefined ? {} : { resource }) }
}

/** Whether people ask it: it is no part of others. */
export function isAsked(one: Named): boolean {
  return topics.some(({ names }) => names.includes(one.name)) || recordedIn(one) !== undefined
}

/** The named things by topic, none left out. */
export function byTopic<One extends Named>(
  all: readonly One[],
): { readonly number: string; readonly title: string; readonly members: readonly One[] }[] {
  const named = new Map(all.map((one) => [one.name, one]))
  const found = topics.map(({ number, title, names }) => ({
    number,
    title,
    members: names.flatMap((name) => named.get(name) ?? []),
  }))
  const listed = new Set(topics.flatMap(({ names }) => names))
  const others = all.filter(({ name }) => !listed.has(name))
  const rows = { ...recorded, members: others.filter((one) => recordedIn(one) !== undefined) }
  const parts = { ...rest, members: others.filter((one) => recordedIn(one) === undefined) }
  return [...found, rows, parts].filter(({ members }) => members.length > 0)
}
