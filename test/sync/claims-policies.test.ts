import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { corroborate, openClaimsSql, pendingClaims, type Witness } from '../../src/sync/evidence/claims.ts'
import { type ClaimKind, type Policy, type PolicyName, policiesOf } from '../../src/sync/evidence/policies.ts'
import { agreesWithFlawed, forgetImplausible } from '../../src/sync/respond/validate-response.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { pauseReached } from '../support/reached.ts'
import { instantOf, worldOf } from '../support/world.ts'

const hour = 3_600_000

// What these tests claim directly reaches no policy of the program.
beforeAll(() => pauseReached(true))
afterAll(() => pauseReached(false))

describe.each(kindsOfPart)('a claim on the %s database', (kind) => {
  const world = worldOf(kind)
  const start = instantOf('10:00')
  const witness = (at: number, receivedAt = at): Witness => ({
    resource: 'leaderboards',
    cacheSeconds: 600,
    at: new Date(at),
    receivedAt: new Date(receivedAt),
    runId: '00000000-0000-4000-8000-000000000000',
    guards: { absences: 4, shrunkenHours: 0 },
  })

  test.each(Object.entries(policiesOf(witness(start).guards)) as [PolicyName, Policy][])(
    'of the policy "%s" takes the responses that it says, each of another cache window',
    async (policy, rule) => {
      const made = policy.split(/ (?:from|in|by) /)[0] as ClaimKind
      const enough = rule.responses
      const apart = rule.apart === 'cache' ? 600_000 : rule.apart
      const isConfirmed = async (at: number) => {
        const one = witness(at)
        return (await corroborate(world.db, one, made, [{ subject: 'a' }], policy)).confirmed.length > 0
      }
      for (let copy = 0; copy < 6; copy++) expect(await isConfirmed(start + (copy * apart) / 6)).toBe(false)
      for (let nth = 2; nth <= enough; nth++) expect(await isConfirmed(start + apart * (nth - 1))).toBe(nth === enough)
    },
  )

  test('that takes hours takes them by the instants, and by the clock of this machine', async () => {
    const isConfirmed = async (at: number, receivedAt: number) => {
      const one = {
        ...witness(start + at * hour, start + receivedAt * hour),
        guards: { absences: 2, shrunkenHours: 6 },
      }
      return (
        (await corroborate(world.db, one, 'missing', [{ subject: 'a' }], 'missing from shrunken')).confirmed.length > 0
      )
    }
    const slow = [
      await isConfirmed(0, 0),
      await isConfirmed(7, 3),
      await isConfirmed(7.5, 5.9),
      await isConfirmed(8, 6),
    ]
    expect(slow).toEqual([false, false, false, true])
    const ahead = [await isConfirmed(10, 10), await isConfirmed(13, 17), await isConfirmed(15.9, 18)]
    expect([...ahead, await isConfirmed(16, 19)]).toEqual([false, false, false, true])
  })

  test('that a response is flawed is forgotten by a good one about the same key, and by no other', async () => {
    const minute = (minutes: number) => witness(start + minutes * 60_000)
    const isAccepted = (minutes: number) => agreesWithFlawed(world.db, minute(minutes), 'a', 'the total differs')
    expect([await isAccepted(0), await isAccepted(10)]).toEqual([false, false])
    await forgetImplausible(world.db, minute(15), 'b')
    expect(await isAccepted(20)).toBe(true)
    await forgetImplausible(world.db, minute(25), 'a')
    expect([await isAccepted(30), await isAccepted(40), await isAccepted(50)]).toEqual([false, false, true])
  })

  test('about a key counts for none whose name only begins with it', async () => {
    const one = witness(start)
    await corroborate(world.db, one, 'empty place', [{ subject: 'guildLevelMax/1' }])
    expect(await pendingClaims(world.db, one, 'empty place', 'guildLevel')).toEqual([])
    expect(await pendingClaims(world.db, one, 'empty place', 'guildLevelMax')).toHaveLength(1)
    const open = async (resource: string, scope: string) =>
      (await world.db.values(`select ${openClaimsSql('$1', '$2')}`, [[resource], scope]))[0]?.[0]
    expect(await open('leaderboards', 'guildLevel')).toEqual([])
    expect(await open('leaderboards', 'guildLevelMax')).toEqual(['leaderboards empty place'])
    expect(await open('guilds', 'guildLevelMax')).toEqual([])
  })
})
