import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { guildBody, type MemberFields, place, syncGuild } from './guild-answers.ts'
import { onlineBody, syncOnline } from './player-answers.ts'
import { liveSevenHours } from './report-world.ts'
import { instantOf, type World } from './world.ts'

/** A name that would turn the text around it, and colour a terminal. */
export const turning = 'Tur\u202en\u001b[31ming'

const guilds = 30
const places = 90

/** Prefixes have one letter to five, and some are wider than any place. */
const prefixOf = (guild: number) => 'iWmlMjAfWQ'.slice(guild % 5, (guild % 5) + 1 + (guild % 6)) || 'W'

/** The seven hours, then a week in which thirty guilds hold ninety territories and take them from each other. */
export async function liveWeek(world: World): Promise<void> {
  await liveSevenHours(world)
  for (const { name } of [territories, onlinePlayers]) {
    await expectEvery(world.db, {
      resource: name,
      everySeconds: 6 * 3600,
      setBy: 'sync',
      at: new Date(instantOf('18:00')),
    })
  }
  const members: Record<number, MemberFields> = {}
  for (let number = 1; number <= 60; number++) members[number] = { contributed: number, username: `Player${number}` }
  for (let step = 0; step < 28; step++) {
    const at = `${String(2 + Math.floor(step / 4)).padStart(2, '0')} ${String((step % 4) * 6).padStart(2, '0')}:00`
    await world.sync(territories, placesAt(step, at), at)
    await syncOnline(world, onlineBody({ EU1: [1, 2], EU2: [3], NA1: [step + 4] }), at)
    if (step % 7 > 0) continue
    for (const member of Object.values(members))
      Object.assign(member, { contributed: Number(member.contributed) + step })
    await syncGuild(world, guildBody('a', { ...members, [61 + step]: { joined: at } }), at)
  }
}

function placesAt(step: number, at: string): Record<string, object> {
  const all: Record<string, object> = {}
  for (let index = 0; index < places; index++) {
    const taken = step % 9 > index % 9 ? step - (index % 9) : 0
    const guild = (index * 7 + taken * 5) % (1 + (index % guilds))
    const uuid = `00000000-0000-4000-9000-${String(guild).padStart(12, '0')}`
    const [x, y] = [(index % 9) * 100, Math.floor(index / 9) * 100]
    const location = { start: [x, y], end: [x + 20 + (index % 8) * 10, y + 12 + (index % 7) * 12] }
    const name = guild === 1 ? turning : `Guild number ${guild}`
    all[`Place ${index}`] = place(null, at, { guild: { uuid, name, prefix: prefixOf(guild) }, location })
  }
  return all
}
