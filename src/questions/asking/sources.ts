import type { Sql } from '../../db/database.ts'
import { isCurrent, recordedIn } from '../catalogue.ts'
import type { Argument, Question } from '../questions.ts'

/** The resources whose responses a question is answered from, by its name. Those that only give names are left out. */
const sources: Readonly<Record<string, readonly string[]>> = {
  ...byResources(['territories'], 'territory_owner_at territory_hold territory_capture capture_matrix map_at'),
  ...byResources(['territories'], 'guild_territory_count territory_economy territory'),
  ...byResources(['territories'], 'territory_storage territory_standing territory_record'),
  ...byResources(['territories', 'guilds', 'seasons'], 'season_rating'),
  ...byResources(['guilds'], 'member_activity member_contribution member_counter member_retention membership_event'),
  ...byResources(['guilds'], 'guild_online_heatmap guild_member'),
  ...byResources(['guilds', 'guild-list'], 'guild'),
  ...byResources(['online-players'], 'world_peak world_lifecycle online_total world'),
  ...byResources(['online-players', 'players', 'guilds'], 'player_session player_playtime'),
  ...byResources(['players', 'guilds'], 'player_biography'),
  ...byResources(['players'], 'player'),
  ...byResources(['items'], 'item item_identification item_change item_at'),
  ...byResources(['recipes'], 'recipe recipe_change recipe_at recipes_using'),
  ...byResources(['items', 'recipes', 'ability-trees', 'aspects', 'quests'], 'patch'),
  ...byResources(['ability-trees'], 'ability_change'),
  ...byResources(['aspects'], 'aspect_change'),
  ...byResources(['quests'], 'quest_change'),
  ...byResources(['loot-pools'], 'loot_pool_at reward_appearance'),
  ...byResources(['world-events'], 'world_event_schedule'),
  ...byResources(['leaderboards'], 'leaderboard_at leaderboard_history'),
  ...byResources(['articles', 'latest-news', 'videos'], 'news'),
  ...byResources(['guilds', 'players', 'leaderboards'], 'gained top_gained timeline best first_to counter'),
  ...byResources(['items'], 'item_drop_place'),
  ...byResources(['item-sets', 'items'], 'item_set'),
  ...byResources(['gathering-nodes'], 'gathering_near'),
  ...byResources(['territories'], 'route_between'),
  ...byResources(['classes'], 'class_at'),
  ...byResources(['ability-trees'], 'ability_at'),
  ...byResources(['raids'], 'raid_at'),
  ...byResources(['camps'], 'camp_at'),
}

function byResources(resources: readonly string[], names: string): Record<string, readonly string[]> {
  return Object.fromEntries(names.split(' ').map((name) => [name, resources]))
}

/** The resources that a question reads; of one about a resource, that one. None for a question about all of them. */
export function sourcesOf(question: Pick<Question, 'name' | 'comment'>, args: readonly Argument[]): readonly string[] {
  const recorded = recordedIn(question)?.resource
  if (recorded !== undefined) return [recorded]
  return sources[question.name] ?? args.flatMap((one) => (one.name === 'resource' ? [one.value] : []))
}

/** How much of a period the responses of a resource speak for. */
interface SourceCoverage {
  readonly resource: string
  readonly from: Date
  readonly to: Date
  /** 0 to 1; null where no schedule is known. */
  readonly coverage: number | null
}

/** An hour, ms. */
const HOUR = 3_600_000

/**
 * The coverage of the period that a question is about, by resource: from `from_time` to `to_time`; of an instant and of what there is
 * now, the hour before; else from the first observation until now. A resource that was never observed is left out.
 */
export async function coverageOf(
  sql: Sql,
  question: Question,
  args: readonly Argument[],
  now: number,
): Promise<SourceCoverage[]> {
  const of = (name: string) => args.find((one) => one.name === name)?.value
  const instant = of('at') ?? (isCurrent(question) || takesInstant(question) ? new Date(now).toISOString() : undefined)
  return await sql.query<SourceCoverage>(
    `select source.resource, period.from_time as "from", period.to_time as "to",
            analytics.watched_share(source.resource, period.from_time, period.to_time) as coverage
       from unnest($1::text[]) with ordinality as source(resource, place)
      cross join lateral analytics.watch(source.resource) watch
      cross join lateral (select coalesce($2::text::timestamptz, $4::text::timestamptz - make_interval(secs => $6::float8), watch.first_at) as from_time,
                                 coalesce($3::text::timestamptz, $4::text::timestamptz, $5::text::timestamptz) as to_time) period
      where watch.first_at is not null
      order by source.place`,
    [
      sourcesOf(question, args),
      of('from_time') ?? null,
      of('to_time') ?? null,
      instant ?? null,
      new Date(now).toISOString(),
      HOUR / 1000,
    ],
  )
}

function takesInstant({ parameters }: Question): boolean {
  return parameters.some(({ name }) => name === 'at')
}
