import { type CallOptions, type ObjectRequest, type ReadableResponse, readObject } from '../call.ts'
import type { Transport } from '../http/transport.ts'
import { type GuildListEntry, readGuildList } from '../schemas/guilds.ts'
import { type GuildProfile, readGuild, readSeasons, readTerritories } from '../schemas/people/profiles.ts'
import type { Season } from '../schemas/seasons.ts'
import type { Territory } from '../schemas/territories.ts'

/** Which of the two identifiers keys a map of the response; the record in it carries the other one. */
export type Identifier = 'username' | 'uuid'

/** A call whose response is keyed by either identifier. */
export interface KeyedCall extends CallOptions {
  /** Left out, the service chooses: names. */
  readonly identifier?: Identifier | undefined
}

/** The guild family (API reference 3.5). */
export function guildEndpoints(transport: Transport) {
  type Read<Value> = Promise<ReadableResponse<Record<string, unknown>, Value>>
  const guild = (request: ObjectRequest, call: CallOptions) => readObject(transport, request, call, readGuild)
  return {
    /** `GET /guild/list/territory`: territories by name. Renewed every 10 s; `observedAt` is the tick it speaks for. */
    territories: (call: CallOptions = {}): Read<Record<string, Territory>> =>
      readObject(transport, { route: '/guild/list/territory' }, call, readTerritories),
    /** `GET /guild/list/guild`: every guild, by name or by uuid. */
    list: ({ identifier, ...call }: KeyedCall = {}): Read<GuildListEntry[]> =>
      readObject(transport, { route: '/guild/list/guild', query: { identifier } }, call, readGuildList),
    /** `GET /guild/uuid/{uuid}`: one guild; `identifier` keys its members. NotFound when it does not exist any more. */
    byUuid: (uuid: string, { identifier, ...call }: KeyedCall = {}): Read<GuildProfile> =>
      guild({ route: '/guild/uuid/{uuid}', segments: [uuid], query: { identifier } }, call),
    /**
     * `GET /guild/{name}`: one guild by its exact name, spaces at its ends included.
     * @throws MultipleObjectsReturned when several guilds match; call `byUuid` then
     */
    byName: (name: string, { identifier, ...call }: KeyedCall = {}): Read<GuildProfile> =>
      guild({ route: '/guild/{name}', segments: [name], query: { identifier } }, call),
    /**
     * `GET /guild/prefix/{prefix}`: one guild by its tag.
     * @throws MultipleObjectsReturned when several guilds match; call `byUuid` then
     */
    byPrefix: (prefix: string, { identifier, ...call }: KeyedCall = {}): Read<GuildProfile> =>
      guild({ route: '/guild/prefix/{prefix}', segments: [prefix], query: { identifier } }, call),
    /** `GET /guild/seasons`: guild seasons by their number, written as text. */
    seasons: (call: CallOptions = {}): Read<Record<string, Season>> =>
      readObject(transport, { route: '/guild/seasons' }, call, readSeasons),
  }
}
