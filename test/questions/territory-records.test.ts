import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { guildId, place } from '../support/guild-answers.ts'
import { seedsOf } from '../support/seeds.ts'
import { instantOf, timeOf, worldOf } from '../support/world.ts'

/* Records of the map: a world worked out by hand, and random histories with gaps against the truth. */

const world = worldOf('server')
const minute = 60_000
const day = 86_400_000
const cadence = 10 * minute
const watchEvery = async (at: number) =>
  await expectEvery(world.db, {
    resource: 'territories',
    everySeconds: cadence / 1000,
    setBy: 'sync',
    at: new Date(at),
  })

interface Row {
  readonly record: string
  readonly territory: string | null
  readonly guild_uuid: string | null
  readonly guild_name: string | null
  readonly value: number
  readonly from_time: Date
  readonly to_time: Date
  readonly quality: string
  readonly at_most: number | null
}

const records = async () => await world.db.query<Row>('select * from analytics.territory_record')

test('records of a small world, by hand', async () => {
  await watchEvery(0)
  expect(await records()).toEqual([])
  const show = async (at: string, [oak, elm, ash]: readonly (readonly [string | null, string | null])[]) =>
    await world.sync(
      territories,
      { Oak: place(...(oak ?? none)), Elm: place(...(elm ?? none)), Ash: place(...(ash ?? none)) },
      at,
    )
  const none = [null, null] as const
  await show('10:00', [['a', '09:00'], ['b', '09:30'], none])
  await show('10:10', [['a', '09:00'], ['a', '10:05'], none])
  await show('10:20', [
    ['a', '09:00'],
    ['a', '10:05'],
    ['a', '10:15'],
  ])
  await show('10:30', [
    ['a', '09:00'],
    ['b', '10:25'],
    ['a', '10:15'],
  ])
  await show('10:40', [
    ['a', '09:00'],
    ['a', '10:35'],
    ['a', '10:15'],
  ])
  // Of Oak it is not known who held it from 10:50 to 13:00.
  await show('14:00', [
    ['b', '13:00'],
    ['a', '10:35'],
    ['a', '10:15'],
  ])
  await show('14:10', [
    ['b', '13:00'],
    ['a', '10:35'],
    ['a', '10:15'],
  ])
  const at = (time: string) => new Date(instantOf(time))
  const a = [guildId('a'), 'Guild a']
  expect((await records()).map((row) => Object.values(row))).toEqual([
    // Elm, Ash, Elm; the day is not watched whole.
    ['most captures in a day', null, ...a, 3, new Date('2026-06-01'), new Date('2026-06-02'), 'at_least', null],
    // Oak was held from 09:00 to 13:00 or so, but shown for 100 minutes alone.
    ['longest confirmed hold', 'Ash', ...a, 235 * 60, at('10:15'), at('14:10'), 'at_least', null],
    ['largest empire', null, ...a, 3, at('10:15'), at('10:25'), 'exact', 3],
    ['most contested place', 'Elm', null, null, 3, at('10:05'), at('10:35'), 'at_least', null],
  ])
})

test('a hold without a time, which takes two responses to be believed, begins and ends others with the first', async () => {
  await watchEvery(0)
  const show = async (at: string, guild: string, acquired: string | null) =>
    await world.sync(territories, { Oak: place(guild, acquired) }, at)
  await show('10:00', 'a', '09:00')
  await show('10:10', 'a', '09:00')
  await show('10:20', 'b', null)
  await show('10:30', 'b', null)
  const at = (time: string) => new Date(instantOf(time))
  expect(
    await world.db.values(
      'select held_until, confirmed_until, confirmed_for::text from analytics.territory_hold order by held_from',
    ),
  ).toEqual([
    [at('10:20'), at('10:10'), '01:10:00'],
    [null, at('10:30'), '00:10:00'],
  ])
  expect(await world.db.values('select captured_at, not_before from analytics.territory_capture')).toEqual([
    [at('10:20'), at('10:10')],
  ])
  const [most] = await records()
  expect(most).toMatchObject({ record: 'most captures in a day', value: 1 })
})

interface Hold {
  readonly territory: string
  readonly letter: string | null
  /** When it began in truth, and by what the API says. */
  readonly since: number
  readonly from: number
  readonly seenAt: number
  readonly isFirst: boolean
  readonly isTold: boolean
  until: number
  trueUntil: number
  endSeen: number
}

const never = Number.POSITIVE_INFINITY
const names = ['Oak', 'Elm', 'Ash', 'Fir']

/**
 * Guilds whose hold without a time would be one from before. What single responses showed in a row, and what is unclaimed, is taken back
 * where two show the hold from before that again.
 */
function maySeemAgain(holds: readonly Hold[], responses: readonly number[], territory: string) {
  const own = holds.filter((one) => one.territory === territory)
  const firm = own.findLastIndex(
    ({ letter, seenAt, endSeen }) => letter !== null && responses.findLast((at) => at < endSeen) !== seenAt,
  )
  const bases = own.slice(Math.max(firm, 0), -1)
  return bases.filter(({ isTold }) => !isTold).map(({ letter }) => letter)
}

async function play(seed: number): Promise<{ holds: Hold[]; responses: number[] }> {
  const random = seededRandom(seed)
  const holds: Hold[] = []
  const responses: number[] = []
  const [begin, end] = [instantOf('02:00'), instantOf('05 00:00')]
  const now = new Map<string, Hold>()
  for (let at = begin; at < end; ) {
    const last = responses.at(-1) ?? begin - cadence
    const body = names.map((territory) => {
      const old = now.get(territory)
      const isShownOnce = old?.seenAt === last
      // An owner without a time is not believed from one response.
      const isDoubted = isShownOnce && !old.isTold && old.letter !== null
      if (!old || (random() < 0.15 && !isDoubted)) {
        const before = holds.findLast((one) => one.territory === territory && one !== old)
        // After a hold without a time, the same guild with one would be that hold, also after it was unclaimed for a while; and what one
        // response alone showed is taken back where the next one shows who was there before.
        const isTheSame = isShownOnce || (old?.letter === null && before?.isTold === false)
        const others = (['a', 'a', 'b', 'c', null] as const).filter(
          (one) => (old?.isTold !== false || one !== old.letter) && !(isTheSame && one === before?.letter),
        )
        const letter = others[Math.floor(others.length * random())] ?? null
        const since = at - Math.floor((random() * (at - last)) / minute) * minute
        // Without an owner, and now and then for one place, the API gives no time.
        const isAlone = [...now.values()].every((one) => one.isTold || one.letter === null)
        const isAgain = maySeemAgain(holds, responses, territory).includes(letter)
        const isTold = letter !== null && (random() < 0.8 || letter === old?.letter || !isAlone || isAgain)
        const isSame = old !== undefined && letter === null && old.letter === null
        if (!isSame) {
          const from = isTold ? since : at
          if (old) Object.assign(old, { until: from, trueUntil: since, endSeen: at })
          const hold = {
            territory,
            letter,
            since,
            from,
            seenAt: at,
            isFirst: !old,
            isTold,
            until: never,
            trueUntil: never,
            endSeen: never,
          }
          holds.push(hold)
          now.set(territory, hold)
        }
      }
      const hold = now.get(territory)
      return [territory, place(hold?.letter ?? null, hold?.isTold ? timeOf(new Date(hold.since)) : null)]
    })
    await world.sync(territories, Object.fromEntries(body), timeOf(new Date(at)))
    responses.push(at)
    at += random() < 0.1 ? Math.ceil(random() * 60) * cadence : cadence
  }
  return { holds, responses }
}

test.each(seedsOf(import.meta.filename))('no record is a false fact, whoever watched when (seed %i)', async (seed) => {
  await watchEvery(0)
  const { holds, responses } = await play(seed)
  const lastAt = responses.at(-1) ?? 0
  const [most, longest, empire, contested] = await records()
  if (!most || !longest || !empire || !contested) throw new Error('no records')
  const owned = holds.filter(({ letter, isTold, seenAt }) => letter !== null && (isTold || seenAt < lastAt))
  const captures = owned.filter(({ isFirst }) => !isFirst)
  const says = ({ value, quality, at_most }: Row, truth: number) => {
    expect({
      seed,
      value,
      truth,
      quality,
      at_most,
      isBound: value <= truth && (at_most === null || truth <= at_most),
    }).toMatchObject({ isBound: true })
    if (quality === 'exact') expect(value).toBe(truth)
  }

  const firstOf = (at: number) => responses.find((one) => one >= at - (at % day)) ?? never
  const counts = new Map<string, number>()
  for (const { letter, from, seenAt, isTold } of captures)
    if (isTold || seenAt > firstOf(from)) {
      const key = `${guildId(letter ?? '')} ${from - (from % day)}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  expect(most.value).toBe(Math.max(...counts.values()))
  const [dayBegins, dayEnds] = [most.from_time.getTime(), most.to_time.getTime()]
  const ofMost = captures.filter(
    ({ letter, since }) => guildId(letter ?? '') === most.guild_uuid && since >= dayBegins && since < dayEnds,
  )
  says(most, ofMost.length)

  const confirmed = (hold: Hold) =>
    Math.min(hold.until, Math.max(hold.seenAt, responses.findLast((one) => one < hold.endSeen) ?? 0))
  expect(longest.value).toBe(Math.max(...owned.map((hold) => confirmed(hold) - hold.from)) / 1000)
  const hold = owned.find(
    ({ territory, from }) => territory === longest.territory && from === longest.from_time.getTime(),
  )
  if (hold?.trueUntil !== never) says(longest, ((hold?.trueUntil ?? 0) - longest.from_time.getTime()) / 1000)
  expect(longest.to_time.getTime()).toBe(hold ? confirmed(hold) : 0)

  // A hold that ended in a gap of three responses or more is known until the response before it was due again.
  const knownUntil = ({ until }: Hold) => {
    const next = responses.find((one) => one >= until) ?? never
    const last = responses.findLast((one) => one < next) ?? 0
    return next - last > 3.5 * cadence ? Math.min(until, last + cadence) : until
  }
  const countAt = (letter: string | null, at: number) =>
    owned.filter(
      (one) => one.letter === letter && one.from <= at && at < (one.until === never ? never : knownUntil(one)),
    ).length
  const sizes = owned.map(({ letter, from }) => countAt(letter, from))
  expect(empire.value).toBe(Math.max(...sizes))
  const at = empire.from_time.getTime()
  const letter = owned.find((one) => guildId(one.letter ?? '') === empire.guild_uuid)?.letter ?? null
  expect(countAt(letter, at)).toBe(empire.value)
  // It won or lost one then, or that is where responses end.
  const ends = empire.to_time.getTime()
  const changes = owned.flatMap((one) => (one.letter === letter ? [one.from, knownUntil(one)] : []))
  expect(changes.includes(ends) || ends === lastAt).toBe(true)
  expect(changes.filter((one) => one > at && one < ends)).toEqual([])
  const counted = await world.db.values(
    `select territories, at_most from analytics.guild_territory_count($1, $1::timestamptz + interval '1 minute', '1 minute') where guild_uuid = $2`,
    [empire.from_time, empire.guild_uuid],
  )
  expect(counted).toEqual([[empire.value, empire.at_most]])

  const fought = await world.db.values(
    'select count(*)::int from analytics.territory_capture group by territory order by 1 desc',
  )
  expect(contested.value).toBe(fought[0]?.[0])
  says(contested, captures.filter(({ territory }) => territory === contested.territory).length)
})
