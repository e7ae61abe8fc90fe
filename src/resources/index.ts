import { FatalError, UsageError } from '../base/errors.ts'
import { unknownName } from '../base/text/nearest.ts'
import {
  type ExpiringTable,
  isWorklist,
  type Resource,
  type RetainedTable,
  type Worklist,
} from '../sync/declare/resource.ts'
import { abilityTrees } from './ability-trees/index.ts'
import { articles } from './articles/index.ts'
import { aspects } from './aspects/index.ts'
import { camps } from './camps/index.ts'
import { classes } from './classes/index.ts'
import { gatheringNodes } from './gathering-nodes/index.ts'
import { guildList } from './guild-list/index.ts'
import { guilds } from './guilds/index.ts'
import { itemMetadata } from './item-metadata/index.ts'
import { itemSets } from './item-sets/index.ts'
import { items } from './items/index.ts'
import { latestNews } from './latest-news/index.ts'
import { leaderboards } from './leaderboards/index.ts'
import { lootPools } from './loot-pools/index.ts'
import { mapMarkers } from './map-markers/index.ts'
import { onlinePlayers } from './online-players/index.ts'
import { players } from './players/index.ts'
import { quests } from './quests/index.ts'
import { raids } from './raids/index.ts'
import { recipes } from './recipes/index.ts'
import { seasons } from './seasons/index.ts'
import { territories } from './territories/index.ts'
import { videos } from './videos/index.ts'
import { worldEvents } from './world-events/index.ts'

/** Everything this program syncs. Worklists come last: they use up what the others leave of the budget. */
export const resources: readonly (Resource | Worklist)[] = [
  items,
  recipes,
  itemSets,
  itemMetadata,
  territories,
  guildList,
  seasons,
  onlinePlayers,
  lootPools,
  raids,
  camps,
  worldEvents,
  quests,
  mapMarkers,
  gatheringNodes,
  classes,
  abilityTrees,
  aspects,
  articles,
  videos,
  latestNews,
  leaderboards,
  guilds,
  players,
]

export const worklists: readonly Worklist[] = resources.filter(isWorklist)

/** The worklist whose keys a flag names, such as `guild`. @throws FatalError when there is none */
export function worklistOf(keyFlag: string): Worklist {
  const found = worklists.find((one) => one.keyFlag === keyFlag)
  if (!found) throw new FatalError(`no worklist has keys called ${keyFlag}`)
  return found
}

/** Every table that is partitioned by month. */
export const growingTables: readonly RetainedTable[] = resources.flatMap(({ retained = [] }) => retained)

/** Every table of events of which nothing coarser stays. */
export const passingTables: readonly ExpiringTable[] = resources.flatMap(({ expiring = [] }) => expiring)

/**
 * The named resources in the order of the registry; all of them when none is named.
 * @throws UsageError with the names that may be meant
 */
export function resourcesNamed(names: readonly string[]): readonly (Resource | Worklist)[] {
  const unknown = names.filter((name) => !resources.some((resource) => resource.name === name))
  if (unknown.length > 0) {
    throw new UsageError(unknown.map((name) => unknownName('resource', name, resources, 'wynnsync status')).join('\n'))
  }
  return names.length === 0 ? resources : resources.filter((resource) => names.includes(resource.name))
}
