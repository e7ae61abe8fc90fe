import { type CallOptions, readObject, readObjectOrList } from '../call.ts'
import type { Transport } from '../http/transport.ts'
import type { Body } from '../schemas/form/bodies.ts'
import {
  parseQuestCount,
  readGatheringNodes,
  readMapContents,
  readMarkers,
  readPlayerLocations,
  readWorldEvents,
} from '../schemas/places.ts'

/** Rewards of content. */
export interface RewardCall extends CallOptions {
  /** Reckon the rewards for this combat level. */
  readonly level?: number | undefined
}

/** What is where (API reference 3.6). */
export function mapEndpoints(transport: Transport) {
  function list<Value>(route: string, read: (body: Body) => Value[]) {
    return (call: CallOptions = {}) => readObjectOrList(transport, { route }, call, read)
  }
  const contents =
    (route: string) =>
    ({ level, ...call }: RewardCall = {}) =>
      readObjectOrList(transport, { route, query: { level } }, call, readMapContents)
  return {
    /** `GET /map/locations/markers`: markers of the web map; coordinates are texts. */
    markers: list('/map/locations/markers', readMarkers),
    /** `GET /map/locations/player`: where the credential's player and those visible to that player are; else empty. */
    players: list('/map/locations/player', readPlayerLocations),
    /** `GET /map/world-events`: world events and, for a few, when they happen next. */
    worldEvents: list('/map/world-events', readWorldEvents),
    /** `GET /map/camps`: camps of this week, with their rewards. */
    camps: contents('/map/camps'),
    /** `GET /map/raids`: raids, with their rewards. */
    raids: contents('/map/raids'),
    /** `GET /map/loot-pools`: rewards of camps and raids alone. */
    lootPools: contents('/map/loot-pools'),
    /** `GET /map/gathering-nodes`: where something can be gathered; about 17,000. */
    gatheringNodes: list('/map/gathering-nodes', readGatheringNodes),
    /** `GET /map/quests`: how many quests there are. */
    quests: (call: CallOptions = {}) => readObject(transport, { route: '/map/quests' }, call, parseQuestCount),
  }
}
