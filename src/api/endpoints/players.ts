import { type CallOptions, readObject, readObjectOrList } from '../call.ts'
import type { Transport } from '../http/transport.ts'
import { readAbilityNodes } from '../schemas/abilities.ts'
import { parseCharacter } from '../schemas/people/characters.ts'
import { parseIdentities } from '../schemas/people/identities.ts'
import { readOnlineList } from '../schemas/people/players.ts'
import { readCharacters, readPlayer } from '../schemas/people/profiles.ts'
import type { KeyedCall } from './guilds.ts'

/** Who is online, and where. */
export interface OnlineCall extends KeyedCall {
  /** Only the players of this world, by its name or number. */
  readonly server?: string | number | undefined
}

/** One player. */
export interface ProfileCall extends CallOptions {
  /** With the characters, each in full. */
  readonly fullResult?: boolean | undefined
}

const PLAYER = '/player/{nameOrUuid}'
const CHARACTERS = `${PLAYER}/characters`
const CHARACTER = `${CHARACTERS}/{characterUuid}`

/**
 * The player family (API reference 3.2). Use the dashed uuid where you can: a name may be out of date, or match several
 * players and throw MultipleObjectsReturned.
 */
export function playerEndpoints(transport: Transport) {
  return {
    /** `GET /player`: the players online now, by name or by uuid, and their worlds. */
    online: ({ identifier, server, ...call }: OnlineCall = {}) =>
      readObject(transport, { route: '/player', query: { identifier, server } }, call, readOnlineList),
    /** `GET /player/{nameOrUuid}`: one player. What its owner hides is left out, or null. */
    profile: (nameOrUuid: string, { fullResult, ...call }: ProfileCall = {}) => {
      const query = { fullResult: fullResult === true ? (true as const) : undefined }
      return readObject(transport, { route: PLAYER, segments: [nameOrUuid], query }, call, readPlayer)
    },
    /** `GET /player/{nameOrUuid}/characters`: light characters by uuid. Forbidden when the list is hidden. */
    characters: (nameOrUuid: string, call: CallOptions = {}) =>
      readObject(transport, { route: CHARACTERS, segments: [nameOrUuid] }, call, readCharacters),
    /** `GET /player/{nameOrUuid}/characters/{characterUuid}`: one character in full. */
    character: (nameOrUuid: string, characterUuid: string, call: CallOptions = {}) => {
      const request = { route: CHARACTER, segments: [nameOrUuid, characterUuid] }
      return readObject(transport, request, call, parseCharacter)
    },
    /**
     * `GET /player/{nameOrUuid}/characters/{characterUuid}/abilities`: nodes by page, or a plain list of nodes as until
     * 2025 (API reference 7.2). Forbidden when the build is hidden.
     */
    abilities: (nameOrUuid: string, characterUuid: string, call: CallOptions = {}) => {
      const request = { route: `${CHARACTER}/abilities`, segments: [nameOrUuid, characterUuid] }
      return readObjectOrList(transport, request, call, readAbilityNodes)
    },
    /** `GET /player/whoami`: the player of the credential, by uuid. Unauthorized without one. */
    whoami: (call: CallOptions = {}) =>
      readObject(transport, { route: '/player/whoami', credential: 'required' }, call, parseIdentities),
  }
}
