import { parseHTML } from 'linkedom'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bothKinds, testDatabase } from '../support/postgres.ts'
import { hostile, liveSevenHours, type Report, reportOf, tableOf, titleOf } from '../support/report-world.ts'
import { instantOf, openWorld, type World } from '../support/world.ts'

describe.each(bothKinds)('the report on the %s database', (kind) => {
  let world: World
  let empty: Report
  let report: Report
  beforeAll(async () => {
    world = await openWorld(await testDatabase(kind))
    empty = await reportOf(world)
    await liveSevenHours(world)
    report = await reportOf(world)
  })
  afterAll(async () => {
    await world.api.close()
    await world.sandbox.close()
  })

  describe('of seven hours', () => {
    test('begins with the first observation and ends after the last, and its tables have what the questions answer', () => {
      expect([report.from, report.to]).toEqual([new Date(instantOf('10:00')), new Date(instantOf('17:01'))])
      expect(tableOf(report, 'map')).toEqual([
        ['Territory', 'Held by', 'Prefix'],
        [hostile.territory, hostile.guild, hostile.prefix],
        ['Elm', hostile.guild, hostile.prefix],
        ['Oak', 'Guild b', 'bbb'],
      ])
      expect(tableOf(report, 'matrix')).toEqual([
        ['Took', 'From', 'Captures'],
        [hostile.guild, 'Guild b', '1'],
        [hostile.guild, 'no owner', '1'],
        ['Guild b', hostile.guild, '1'],
        ['Guild b', 'Guild b', '1'],
      ])
      expect(tableOf(report, 'empires').slice(-1)).toEqual([['2026-06-01 17:00', '1', '2']])
      expect(tableOf(report, 'members').slice(1)).toEqual([
        ['Player2', 'chief', 'inactive', '2026-05-02 10:00', '30.29', ''],
        [hostile.player, 'owner', 'active', '2026-06-01 11:00', '0.25', ''],
        ['Player3', 'recruit', 'unknown', '?', '?', 'hides whether online'],
        ['Player4', 'recruit', 'unknown', '?', '?', 'never seen online, and the API gives no last login'],
      ])
      expect(tableOf(report, 'contribution').slice(1, 3)).toEqual([
        [hostile.player, 'owner', '50', '?', '1', 'at_least'],
        ['Player2', 'chief', '0', '?', '2', 'at_least'],
      ])
      expect(tableOf(report, 'moves').slice(1)).toEqual([
        ['2026-06-01 10:40', 'joined', 'Player4', '', 'recruit', '', expect.stringContaining('2026-06-01 10:')],
      ])
      expect(tableOf(report, 'patch').slice(1)).toEqual([[hostile.item, 'raw strength', '4', '6', '']])
    })

    test('says what is rare in the pools, and what a balance patch changed by class', () => {
      expect(titleOf(report, 'pools')).toBe(
        `1 pool with 3 rewards; the rarest is ${hostile.item} in ${hostile.territory}, there 14 % of the last 7 hours`,
      )
      expect(tableOf(report, 'pools').slice(1)).toEqual([
        [`${hostile.item} (shiny)`, 'MYTHIC', 'item', hostile.territory, 'raid', '1', '2026-06-01 16:00', '14 %'],
        ['Old Ring', 'RARE', 'item', hostile.territory, 'raid', '1', '2026-06-01 10:00', '100 %'],
        ['Pale Coin', '', 'currency', hostile.territory, 'raid', '2', '2026-06-01 10:00', '100 %'],
      ])
      expect(titleOf(report, 'balance')).toBe('The balance patch changed 0 abilities and 1 aspect, most of the mage')
      const around = (more: number) => `… your spells deal +${more}% more damage to …`
      expect(tableOf(report, 'balance').slice(1)).toEqual([
        ['mage', hostile.item, 'tiers · 1 · description', around(5), around(7), ''],
      ])
      // Seven weeks and more before the first observation.
      const hatched = parseHTML(report.html).document.querySelectorAll('#pools .wide [fill="url(#unknown)"] rect')
      expect(hatched.length).toBeGreaterThan(0)
    })

    test('never shows as zero what nobody saw', () => {
      // From 12:00 to 17:00 nothing was observed; territories lack the four hours in between.
      const online = tableOf(report, 'online-total').slice(1)
      const column = (index: number) => online.map((row) => row[index])
      expect(column(1)).toEqual(['3', '?', '?', '3'])
      expect(column(4)).toEqual(['1', '0', '0', '0.02'])
      const worlds = tableOf(report, 'worlds')
      expect(worlds.map((row) => row.slice(1))).toEqual([
        ['EU1', 'EU2'],
        ['1.5', '2'],
        ['?', '?'],
        ['?', '?'],
        ['1', '0'],
      ])
      const grid = '#worlds .wide [role="img"]'
      const titles = [...parseHTML(report.html).document.querySelectorAll(`${grid} [fill="var(--heat)"] rect title`)]
      expect(titles.map(({ textContent }) => textContent)).toEqual([
        'EU1, 1 Jun, 10:00: 1.5, 100 % watched',
        'EU2, 1 Jun, 10:00: 2, 100 % watched',
        'EU1, 1 Jun, 16:00: 1, 100 % watched',
        'EU2, 1 Jun, 16:00: 0, 100 % watched',
      ])
      expect(parseHTML(report.html).document.querySelectorAll(`${grid} [fill="url(#unknown)"] rect`)).toHaveLength(4)
      expect(tableOf(report, 'guild-hours').map((row) => row.slice(1))).toEqual([
        ['Hour (UTC)', 'Online, average', 'Online, most', 'Coverage'],
        ['10:00', '1', '1', '1'],
        ['11:00', '3', '3', '1'],
        ...['12', '13', '14', '15', '16', '17'].map((hour) => [`${hour}:00`, '?', '?', '0']),
      ])
      const hatched = parseHTML(report.html).document.querySelectorAll(
        '#online-total .wide [role="img"] [fill="url(#unknown)"] rect',
      )
      // Two of the four steps, without an observation.
      expect(hatched).toHaveLength(2)
      expect(
        tableOf(report, 'gaps')
          .slice(1)
          .map((row) => row.slice(0, 4)),
      ).toContainEqual(['territories', '2026-06-01 12:00', '2026-06-01 17:00', '4'])
    })

    test('shows names as text, whatever they look like', () => {
      const { document } = parseHTML(report.html)
      const scripts = [...document.querySelectorAll('script')]
      expect(scripts.map((script) => script.getAttribute('type'))).toEqual(['application/json', null])
      expect(document.querySelectorAll('img, b b, svg[onload]')).toHaveLength(0)
      expect(titleOf(report, 'map')).toContain(hostile.guild)
      for (const name of Object.values(hostile)) expect(report.html).not.toContain(name)
      const states = JSON.parse(String(scripts[0]?.textContent))
      expect(states.names).toContain(hostile.guild)
      expect(states.changes.map(([territory]: [string]) => territory)).toContain(hostile.territory)
    })

    test('the map tells who held what at each step, and the page shows the last moment without a script', () => {
      const { document } = parseHTML(report.html)
      const { names, times, changes } = JSON.parse(String(document.querySelector('#map-states')?.textContent))
      const [a, b] = [names.indexOf(hostile.guild), names.indexOf('Guild b')]
      const told = (name: string) => {
        const [, list] = changes.find(([territory]: [string]) => territory === name)
        return list.map(([step, guild]: [number, number]) => [times[step], guild])
      }
      expect(told('Oak')).toEqual([
        ['1 Jun, 10:00', a],
        ['1 Jun, 10:30', b],
      ])
      expect(told('Elm')).toEqual([
        ['1 Jun, 10:00', b],
        // Nobody looked from then on, and it had another holder when somebody did.
        ['1 Jun, 13:00', -1],
        ['1 Jun, 16:30', a],
      ])
      expect(told(hostile.territory)).toEqual([
        ['1 Jun, 10:00', -1],
        ['1 Jun, 11:40', a],
      ])
      const titles = [...document.querySelectorAll('#map .scaled svg.plot rect title')].map((one) => one.textContent)
      expect(titles.sort()).toEqual([`${hostile.territory}: ${hostile.guild}`, `Elm: ${hostile.guild}`, 'Oak: Guild b'])
    })

    test('is about the period and the guild that are wanted', async () => {
      const early = await reportOf(world, { from: new Date(instantOf('10:00')), to: new Date(instantOf('11:00')) })
      expect(tableOf(early, 'matrix').slice(1)).toEqual([['Guild b', hostile.guild, '1']])
      expect(tableOf(early, 'moves').slice(1)).toHaveLength(1)
      expect(titleOf(early, 'patch')).toBe('No patch was seen yet')
      const late = await reportOf(world, { from: new Date(instantOf('02 00:00')), to: new Date(instantOf('02 06:00')) })
      expect(titleOf(late, 'map')).toBe('Not observed since 2026-06-01 17:00 UTC')
      expect(titleOf(late, 'empires')).toBe('No observation of the owners in this period')
    })
  })

  test('of an empty database says what is missing and what brings it', () => {
    const { document } = parseHTML(empty.html)
    const figures = [...document.querySelectorAll('figure')].map((one) => [
      one.id,
      one.querySelector('code')?.textContent,
    ])
    expect(figures).toEqual([
      ['map', 'wynnsync sync territories'],
      ['empires', 'wynnsync sync territories'],
      ['captures', 'wynnsync sync territories'],
      ['matrix', undefined],
      ['members', 'wynnsync sync guild-list guilds'],
      ['online-total', 'wynnsync sync online-players'],
      ['worlds', 'wynnsync sync online-players'],
      ['patch', 'wynnsync sync items recipes'],
      ['pools', 'wynnsync sync loot-pools'],
      ['balance', 'wynnsync sync ability-trees aspects'],
      ['freshness', 'wynnsync sync'],
      ['gaps', 'wynnsync start'],
    ])
    expect(empty.html.length).toBeLessThan(30_000)
  })
})
