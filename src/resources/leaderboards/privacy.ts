import { leaderboardEntrySchema } from '../../api/schemas/leaderboards.ts'
import {
  type Fields,
  isFields,
  type KeptTable,
  type Personal,
  type PersonalResponses,
} from '../../sync/declare/resource.ts'
import { uuidField } from '../record.ts'
import { hasValue, isAbout, removeFields } from '../redaction.ts'
import { entriesOf, isGuild, isHidden, type NamedBoard, redacted } from './normalize.ts'

/** Players on boards, which show their names and numbers. */
export const rankedIn: Personal['peopleIn'] = ({ records }) =>
  records.flatMap((record) => {
    const { type, body } = record as NamedBoard
    return entriesOf(body).flatMap(([, entry]) => {
      const playerUuid = uuidField(entry, 'uuid')
      if (playerUuid === undefined || isHidden(entry) || isGuild(entry, type)) return []
      const shows = ['mainAccess', ...(hasValue(entry, 'characterUuid') ? ['characterListAccess'] : [])]
      return [{ playerUuid, restricted: [], open: [], shows, sends: [], fields: [] }]
    })
  })

/** What tells whose an entry is; with less than all of it gone, its numbers could be found again in the player's profile. */
const numbers = new Set(['score', 'metaScore', 'previousRanking', 'restricted'])

function ownEntries(body: Fields, uuid: string): Fields[] {
  return entriesOf(body).flatMap(([, entry]) => (isFields(entry) && isAbout(entry, uuid) ? [entry] : []))
}

/** Leaves of a player's entries what the API itself leaves of one who hides. */
function hide(body: Fields, uuid: string): boolean {
  const own = ownEntries(body, uuid)
  for (const entry of own) {
    for (const field of Object.keys(entry)) if (!numbers.has(field)) delete entry[field]
    Object.assign(entry, { uuid: redacted, name: redacted, restricted: true })
  }
  return own.length > 0
}

const ofCharacter = ['characterUuid', 'characterType', 'characterData']

function hideCharacter(body: Fields, uuid: string): boolean {
  return ownEntries(body, uuid).reduce((found, entry) => removeFields(entry, ofCharacter) || found, false)
}

export const boardResponses: PersonalResponses = {
  isOfOne: false,
  rules: ['mainAccess', 'characterListAccess'],
  archived: [
    `join lateral (select distinct seen.type from game.leaderboard_place seen where seen.player_uuid = who.player_uuid) board on true
     join sync.raw_answer raw on raw.resource = 'leaderboards' and raw.key = board.type`,
    `join sync.raw_answer raw on raw.resource = 'leaderboards' and raw.status in ('rejected', 'failed')`,
    // Whose entry was quarantined is on no place.
    `join sync.quarantine unread on unread.resource = 'leaderboards' and unread.key like '%/' || who.player_uuid
     join sync.raw_answer raw on raw.resource = 'leaderboards' and raw.key = split_part(unread.key, '/', 1)`,
    // A board that was quarantined as a whole has no places.
    `join sync.raw_answer raw on raw.resource = 'leaderboards' and raw.status = 'partial'
      and raw.key in (select unread.key from sync.quarantine unread where unread.resource = 'leaderboards')`,
  ],
  redact: (body, uuid, rule) => (rule === 'characterListAccess' ? hideCharacter(body, uuid) : hide(body, uuid)),
  remove: hide,
  recordsOf: () => [],
  names: { nameless: new Set(Object.keys(leaderboardEntrySchema.shape).filter((name) => !/name$/i.test(name))) },
}

const named = ['player_uuid', 'character_uuid', 'name']

/** The place and its score stay: without them, who was there before would seem to have stayed. */
export const boardTables: readonly KeptTable[] = [
  {
    table: 'game.leaderboard_place',
    since: 'observed_at',
    username: 'name',
    blank: { mainAccess: { columns: named }, characterListAccess: { columns: ['character_uuid'] } },
    emptied: named,
  },
]
