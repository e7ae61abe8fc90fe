import { integer, text } from '../../db/columns.ts'
import { historyTable, partTable } from '../../db/history.ts'

/** API reference 5.3. */
export const recipe = historyTable(
  'recipe',
  'Versions of crafting recipes. One row per interval without a change; valid_until = infinity is the current version. Ranges are what the crafted thing may roll. NULL in a column: the recipe has no such thing.',
  { internalName: text('Natural key: internalName of the API, such as Boots1-3; unique.') },
  {
    type: text(
      'What is crafted: helmet, chestplate, leggings, boots, bow, spear, wand, dagger, relik, ring, bracelet, necklace, food, potion, scroll.',
    ).notNull(),
    skill: text(
      'Crafting skill that is needed: armouring, tailoring, weaponsmithing, woodworking, jeweling, cooking, alchemism, scribing. NULL: the API did not send it.',
    ),
    levelMin: integer('Lowest level of the band of levels that the recipe is for.'),
    levelMax: integer('Highest level of that band, inclusive.'),
    xp: integer('Experience points for crafting it once.'),
    healthOrDamageMin: integer(
      'Least health (armour), damage (weapon) or healing (consumable) of the crafted thing. NULL for jewelry, which has none.',
    ),
    healthOrDamageMax: integer(
      'Most health (armour), damage (weapon) or healing (consumable) of the crafted thing. NULL for jewelry, which has none.',
    ),
    durabilityMin: integer(
      'Least durability of the crafted thing, in thousandths (175000 is 175). NULL for consumables.',
    ),
    durabilityMax: integer(
      'Most durability of the crafted thing, in thousandths (175000 is 175). NULL for consumables.',
    ),
    durationMin: integer('Shortest effect of the crafted consumable, in seconds. NULL for anything else.'),
    durationMax: integer('Longest effect of the crafted consumable, in seconds. NULL for anything else.'),
    basicDurationMin: integer(
      'Shortest effect of the consumable crafted without ingredients, in seconds. NULL for anything else.',
    ),
    basicDurationMax: integer(
      'Longest effect of the consumable crafted without ingredients, in seconds. NULL for anything else.',
    ),
  },
  {
    document: true,
    comments: { document: 'The whole record in the shape of the API, without the model numbers of sprites.' },
  },
)

export const recipeMaterial = partTable(
  recipe,
  'recipe_material',
  'Materials of a version of a recipe; every one seen so far has two.',
  { position: integer('Place in the list of the API, from 1.') },
  {
    item: text('The material: internal_name in game.item. NULL: the API did not send it.'),
    amount: integer('How many are used up. NULL: the API did not send it.'),
  },
)

export const recipeSprite = partTable(
  recipe,
  'recipe_sprite',
  'What the thing crafted by a version of a recipe may look like, depending on the ingredients used.',
  { variant: text('Kind of look: default, air, earth, fire, water, thunder, rainbow, melee, magic, slow and others.') },
  {
    format: text('How to read the icon, as icon_format of game.item. NULL: the API did not send it.'),
    iconId: text('Minecraft item of the icon, such as minecraft:potion. NULL: the API did not send it.'),
    iconName: text(
      'Model of the icon, such as boots.titanium. Model numbers are not kept: they change with every resource pack. NULL: the API did not send it.',
    ),
    name: text('Name of the sprite, such as foodair; one is misspelled (scollrainbow). NULL: the API did not send it.'),
  },
)

export const recipeHistory = { root: recipe, parts: { materials: recipeMaterial, sprites: recipeSprite } }
