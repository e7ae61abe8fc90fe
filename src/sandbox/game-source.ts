import { boardSource, isBoard } from './game/boards/boards.ts'
import { createGame, type Game, type GameOptions } from './game/game.ts'
import { gamePeople } from './game/people/people.ts'
import { gameSource } from './game/routes.ts'
import { patchItems } from './generator/patch.ts'
import type { ItemWorld } from './generator/records.ts'
import { type AnswerSource, once } from './http/answer.ts'
import type { AnswerForm } from './http/paging.ts'
import type { People } from './oauth/tokens.ts'
import type { WorldSource } from './world-source.ts'

/** A few guilds, and what happens to them in three days. */
export const storyWorld: GameOptions = { guilds: 4, players: 240, territories: 60, isStory: true, patches: true }

const retunedPerPatch = 12

/** Puts a game around the item routes of a generated world; it is created when first needed, and begins at `now`. */
export function openGame(
  items: WorldSource,
  options: GameOptions,
  form: Pick<AnswerForm, 'dialect' | 'seed' | 'now'>,
): { source: AnswerSource; setItemWorld: (world: ItemWorld) => void; game: () => Game; people: () => People } {
  let patches = options.patches ?? true
  const game = once(() =>
    createGame({
      ...options,
      seed: form.seed,
      startedAt: options.startedAt === undefined ? form.now : Date.parse(options.startedAt),
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
