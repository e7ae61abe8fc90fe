import type { Fault, Outgoing } from '../fault.ts'
import { fieldsIn, isGuild, isProfile, membersIn, objectsIn, rewritten } from './json.ts'

const mainGroups = ['globalData', 'featuredStats', 'ranking', 'previousRanking', 'firstJoin', 'playtime']
const unseen = { online: false, lastJoin: null, server: null }

/** Answers about people that hide something, or count wrongly. */
export const people = {
  private: {
    about: 'players and members who hide everything for a while: restrictions appear, groups are absent',
    run: 3,
    spoil: (answer, { path, random }) =>
      isProfile(path)
        ? rewritten(answer, (body) => {
            if (!isGuild(path)) return hideProfile(body)
            const hidden = membersIn(body).filter((_, nth) => nth === 0 || random() < 0.4)
            for (const { record } of hidden) {
              Object.assign(record, unseen)
              delete record.globalData
              record.restrictions = { ...fieldsIn(record.restrictions), online_status: true, main_access: true }
            }
            return hidden.length > 0
          })
        : undefined,
  },
  'zero-counters': {
    about: "players' and members' counters are 0 for one answer",
    spoil: (answer, { path }) => counted(answer, path, 0),
  },
  'double-counters': {
    about: "players' and members' counters are doubled for a while",
    run: 3,
    spoil: (answer, { path }) => counted(answer, path, 2),
  },
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

function counted(answer: Outgoing, path: string, factor: number): Outgoing | undefined {
  if (!isProfile(path)) return undefined
  return rewritten(answer, (body) => {
    const records = isGuild(path) ? membersIn(body).map(({ record }) => record) : objectsIn([body])
    let found = false
    for (const record of records) {
      for (const name of ['contributed', 'globalData', 'playtime']) {
        if (!(name in record)) continue
        record[name] = multiplied(record[name], factor)
        found = true
      }
    }
    return found
  })
}

function multiplied(value: unknown, factor: number): unknown {
  if (typeof value === 'number') return value * factor
  const fields = fieldsIn(value)
  if (!fields) return value
  return Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, multiplied(one, factor)]))
}
