import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { guildColour } from '../../src/drawing/colours.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { webWorld } from '../support/web-world.ts'

/** Of a colour as WCAG 2 defines it. */
function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const contrast = (one: number, other: number) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)

describe('the colour of a guild', () => {
  test.each([
    // The CRC-32 of these digits is cbf43926, the check value of the algorithm.
    ['123456789', '#f43926'],
    ['Guild d', '#78b763'],
  ])('is the last three bytes of the CRC-32 of its name: %s', (name, colour) => {
    expect(guildColour(name)).toBe(colour)
  })

  test('stands out from light and dark paper, and black text can be read on it', () => {
    const colours = Array.from({ length: 3000 }, (_, nth) => luminanceOf(guildColour(`Guild ${nth}`)))
    // #fcfcfa, #16181b and black.
    expect(Math.min(...colours.map((own) => contrast(own, 0.973)))).toBeGreaterThan(1.95)
    expect(Math.min(...colours.map((own) => contrast(own, 0.009)))).toBeGreaterThan(3.7)
    expect(Math.min(...colours.map((own) => contrast(own, 0)))).toBeGreaterThan(4.5)
  })
})

describe('a guild has one colour', () => {
  const { served } = webWorld('server', async (world) => {
    await world.sync(territories, { Oak: place('d', '09:00'), Elm: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place('d', '09:00'), Elm: place('d', '10:30') }, '11:00')
  })

  test.each(['/map', '/territories', '/territories/Oak', '/captures', '/map.json', '/guilds/ddd'])(
    'on %s',
    async (path) => expect((await (await served()).ask(path)).text).toContain('#78b763'),
  )

  test('on the map: of its territory and in the legend', async () => {
    const { document } = parseHTML((await (await served()).ask('/map')).text)
    const fills = [...document.querySelectorAll('#map rect')].filter((one) => one.getAttribute('fill') === '#78b763')
    expect(fills).toHaveLength(3)
  })
})
