import type { Fault } from '../fault.ts'
import { fieldsIn, isGuild, isProfile, jsonFault, membersIn, objectsIn, someOf } from './json.ts'

const mainGroups = ['globalData', 'featuredStats', 'ranking', 'previousRanking', 'firstJoin', 'playtime']
const unseen = { online: false, lastJoin: null, server: null }

/** Responses about people that hide something, or count wrongly. */
export const people = {
  private: jsonFault({
    about: 'players and members who hide everything for a while: restrictions appear, groups are absent',
    run: 3,
    on: isProfile,
    edit: (body, { path, random }) => {
      if (!isGuild(path)) return hideProfile(body)
      const hidden = someOf(membersIn(body), 0.4, random)
      for (const { record } of hidden) {
        Object.assign(record, unseen)
        delete record.globalData
        record.restrictions = { ...fieldsIn(record.restrictions), online_status: true, main_access: true }
      }
      return hidden.length > 0
    },
  }),
  'zero-counters': jsonFault({
    about: "players' and members' counters are 0 for one answer",
    on: isProfile,
    edit: (body, { path }) => multiply(path, body, 0),
  }),
  'double-counters': jsonFault({
    about: "players' and members' counters are doubled for a while",
    run: 3,
    on: isProfile,
    edit: (body, { path }) => multiply(path, body, 2),
  }),
} as const satisfies Record<string, Fault>

function hideProfile(body: object): boolean {
  const player = fieldsIn(body)
  if (!player || !('uuid' in player)) return false
  for (const name of [...mainGroups, 'characters']) delete player[name]
  Object.assign(player, unseen, { activeCharacter: null })
  const rules = { mainAccess: true, onlineStatus: true, characterListAccess: true }
  player.restrictions = { ...fieldsIn(player.restrictions), ...rules }
  return true
}

function multiply(path: string, body: object, factor: number): boolean {
  const records = isGuild(path) ? membersIn(body).map(({ record }) => record) : objectsIn([body])
  const counted = records.flatMap((record) =>
    ['contributed', 'globalData', 'playtime'].filter((name) => name in record).map((name) => ({ record, name })),
  )
  for (const { record, name } of counted) record[name] = multiplied(record[name], factor)
  return counted.length > 0
}

function multiplied(value: unknown, factor: number): unknown {
  if (typeof value === 'number') return value * factor
  const fields = fieldsIn(value)
  if (!fields) return value
  return Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, multiplied(one, factor)]))
}
