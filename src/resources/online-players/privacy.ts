import { uuidText } from '../../api/schemas/form/limits.ts'
import { fieldsOf } from '../../api/schemas/form/unknown.ts'
import { worldName } from '../../api/schemas/people/players.ts'
import { addRedacted } from '../../api/schemas/people/redacted.ts'
import {
  type Fields,
  isFields,
  type KeptTable,
  type Personal,
  type PersonalResponses,
} from '../../sync/declare/resource.ts'
import { fieldOf } from '../record.ts'
import { removeFields } from '../redaction.ts'

/** Who is listed, which shows just that. */
export const listedIn: Personal['peopleIn'] = ({ facts }) => {
  const players = fieldOf(facts, 'players')
  const uuids: unknown[] = Array.isArray(players) ? players : []
  const shows = ['onlineStatus']
  return uuids.map((uuid) => ({
    playerUuid: String(uuid),
    restricted: [],
    open: [],
    shows,
    sends: [],
    fields: [],
  }))
}

/** The total stays: who is not listed any more is hidden. */
function unlist(list: Fields, uuid: string): boolean {
  const { players } = list
  if (!isFields(players)) return false
  const keys = fieldsOf(players).flatMap(([key]) => (uuidText(key) === uuid ? [key] : []))
  for (const key of keys) addRedacted(list, { worlds: { [worldName(players[key]) ?? '']: 1 } })
  return removeFields(players, keys)
}

export const listResponses: PersonalResponses = {
  isOfOne: false,
  rules: ['onlineStatus'],
  archived: [
    `join game.player_listing listing on listing.player_uuid = who.player_uuid
     join sync.raw_answer raw on raw.resource = 'online-players' and raw.key is null
      and raw.observed_at between listing.first_listed_at and coalesce(listing.last_listed_at, 'infinity')`,
    `join sync.raw_answer raw on raw.resource = 'online-players' and raw.status in ('rejected', 'failed')`,
    // Who is listed by name alone is in no listing.
    `join sync.raw_answer raw on raw.resource = 'online-players' and raw.status = 'partial' and who.field_group = 'everything'`,
    // Listings expire where that is configured, and raw responses perhaps later.
    `join sync.raw_answer raw on raw.resource = 'online-players'
      and raw.observed_at < (select fine_since from sync.tier where sample_table = 'game.player_listing')`,
  ],
  redact: unlist,
  remove: unlist,
  recordsOf: () => [],
  names: { nameless: new Set(['total']), playerMap: 'players' },
}

export const listingTables: readonly KeptTable[] = [
  {
    table: 'game.player_listing',
    since: 'first_listed_at',
    rows: { onlineStatus: 'true' },
    absences: 'online-players',
  },
  { table: 'game.player_hop', since: 'latest', rows: { onlineStatus: 'true' } },
]
