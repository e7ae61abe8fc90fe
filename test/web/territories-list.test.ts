import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { webWorld } from '../support/web-world.ts'

const levels = ['VERY_LOW', 'LOW', 'MEDIUM', 'HIGH', 'VERY_HIGH']

describe('the list of territories', () => {
  const { served } = webWorld('server', async (world) => {
    const names = Array.from({ length: 205 }, (_, nth) => `Place ${String(nth).padStart(3, '0')}`)
    const body = names.map((name, nth) => [
      name,
      { ...place(nth % 2 === 0 ? 'a' : 'b', '09:00'), ...(nth === 7 ? {} : { treasury: levels[nth % 5] }) },
    ])
    await world.sync(territories, Object.fromEntries(body), '10:00')
  })

  test('has two hundred on a page, and is sorted by each heading as what it means', async () => {
    const { ask } = await served()
    const partsOf = async (query: string) => {
      const { status, text } = await ask(`/territories?${query}`)
      expect([query, status]).toEqual([query, 200])
      const { document } = parseHTML(text)
      const cells = (row: typeof document) => [...row.children].map((cell) => cell.textContent)
      return {
        rows: [...document.querySelectorAll('#list tbody tr')].map(cells),
        next: document.querySelector('p.at a')?.getAttribute('href'),
      }
    }
    const first = await partsOf('')
    expect([first.rows.length, first.rows[0]?.[0], first.next]).toEqual([200, 'Place 000', '/territories?page=2'])
    const second = await partsOf('page=2')
    expect(second.rows.map(([name]) => name)).toEqual(['200', '201', '202', '203', '204'].map((nth) => `Place ${nth}`))
    const highest = await partsOf('sort=treasury')
    expect(highest.rows.map(([, , , treasury]) => treasury).slice(0, 82)).toEqual([
      ...Array<string>(41).fill('very high'),
      ...Array<string>(41).fill('high'),
    ])
    const lowest = await partsOf('sort=-treasury&page=2')
    // What is not known comes last either way.
    expect(lowest.rows.at(-1)?.[0]).toBe('Place 007')
    expect((await partsOf('sort=guild')).rows[0]?.[1]).toMatch(/^Guild a/)
  })
})

describe('records of a period', () => {
  const { served } = webWorld('server', async (world) => {
    const names = Array.from({ length: 12 }, (_, nth) => `Place ${nth}`)
    const body = (holder: string, withGuild = true) =>
      Object.fromEntries(
        names.map((name) => {
          const { guild, ...rest } = place(holder, '09:00') as { readonly guild: unknown }
          return [name, withGuild ? { guild, ...rest } : rest]
        }),
      )
    for (let minute = 0; minute < 40; minute++)
      await world.sync(territories, body('a', minute < 20), `10:${String(minute).padStart(2, '0')}`)
  })

  test('are bounds while the API does not send who holds territories', async () => {
    const { ask } = await served()
    const held = async (from: string, to: string) => {
      const { text } = await ask(`/records?from=2026-06-01T${from}Z&to=2026-06-01T${to}Z`)
      const rows = [...parseHTML(text).document.querySelectorAll('#record-list tbody tr')]
      return rows.map((row) => row.children[3]?.textContent).find((said) => said?.includes('territories'))
    }
    expect(await held('10:05', '10:15')).toBe('12 territories')
    expect(await held('10:05', '10:35')).toBe('at least 12 territories')
  })
})
