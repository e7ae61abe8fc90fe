import { boardSource, isBoard } from './game/boards/boards.ts'
import { createGame, type Game } from './game/game.ts'
import { gamePeople } from './game/people/people.ts'
import { gameSource } from './game/routes.ts'
import { patchItems } from './generator/patch.ts'
import type { ItemWorld } from './generator/records.ts'
import { type AnswerSource, type Dialect, once } from './http/answer.ts'
import type { People } from './oauth/people.ts'
import type { WorldSource } from './world-source.ts'

/** How the living world is to be. */
export interface GameOptions {
  /** How many guilds: 60 of them play, the others are small and dormant (default 400, up to 20,000). */
  readonly guilds?: number | undefined
  /** How many people play (default 2,000); members of dormant guilds come on top. */
  readonly players?: number | undefined
  /** How many territories the map has, rounded up to twenties (default 400). */
  readonly territories?: number | undefined
  /** ISO instant at which the game begins (default: the clock when the sandbox starts). */
  readonly startedAt?: string | undefined
  /** How often a territory's resources move, seconds (default 600). */
  readonly resourceSeconds?: number | undefined
  /** Whether one war, one patch and the like happen in three days, as planned, instead of much by chance (default false). */
  readonly isStory?: boolean | undefined
  /** Whether the game patches the items now and then (default: unless an item world was given). */
  readonly patches?: boolean | undefined
}

/** A few guilds, and what happens to them in three days. */
export const storyWorld: GameOptions = { guilds: 4, players: 240, territories: 60, isStory: true, patches: true }

const retunedPerPatch = 12

/** Puts a game around the item routes of a generated world; it is created when first needed, and begins at `now`. */
export function openGame(
  items: WorldSource,
  options: GameOptions,
  form: { readonly dialect: Dialect; readonly seed: number; readonly now: number },
): { source: AnswerSource; setItemWorld: (world: ItemWorld) => void; game: () => Game; people: () => People } {
  let patches = options.patches ?? true
  const game = once(() =>
    createGame({
      seed: form.seed,
      startedAt: options.startedAt === undefined ? form.now : Date.parse(options.startedAt),
      guilds: options.guilds,
      players: options.players,
      territories: options.territories,
      isStory: options.isStory,
      patchItems: (seed) => {
        if (!patches) return null
        const { changed, added, removed, ...world } = patchItems(items.itemWorld(), seed, retunedPerPatch)
        items.setItemWorld(world)
        return { changed, added, removed }
      },
    }),
  )
  const living = once(() => gameSource(game(), form.dialect, options.resourceSeconds ?? 600, form.seed))
  const boards = once(() => boardSource(game(), { ...form, items: () => items.itemWorld().items }))
  return {
    game,
    people: once(() => gamePeople(game())),
    source: {
      answer: (request, now) => {
        if (/^\/(guild|player)(\/|$)/.test(request.path)) return living().answer(request, now)
        if (isBoard(request.path)) return boards().answer(request, now)
        // The game may patch the items in the meantime.
        if (patches) game().advanceTo(now)
        return items.answer(request, now)
      },
    },
    setItemWorld: (world) => {
      // From here on the items belong to the caller.
      patches = false
      items.setItemWorld(world)
    },
  }
}
