/** The records of the generated world, in the shapes of API reference 5.2 to 5.4. */

/** A number that rolls: `min` may lie above `max` where lower is better. */
export interface Roll {
  readonly min: number
  readonly raw: number
  readonly max: number
}

export type Stats = Readonly<Record<string, number | Roll>>

/** Model numbers move with every resource pack and say nothing about the item. */
export interface ModelNumbers {
  readonly rangeDispatch: readonly number[]
  readonly select?: readonly string[]
}

export interface Icon {
  readonly format: 'attribute' | 'skin'
  readonly value:
    | string
    | { readonly id: string; readonly name: string; readonly customModelData: ModelNumbers | number }
}

export interface DropMeta {
  readonly name?: string
  readonly type: string | readonly string[]
  readonly event?: string
  readonly coordinates?: readonly number[]
}

export interface Source {
  readonly name: string
  readonly coords?: null | false | readonly number[] | readonly (readonly number[])[]
}

export interface Item {
  readonly displayName: string
  readonly internalName: string
  readonly type: 'weapon' | 'armour' | 'accessory' | 'tome' | 'charm' | 'tool' | 'ingredient' | 'material'
  readonly subType?: string
  readonly icon: Icon
  readonly emblem: string
  readonly tier?: string
  readonly attackSpeed?: string
  readonly averageDps?: number
  readonly gatheringSpeed?: number
  readonly durability?: number
  readonly restriction?: string
  readonly dropRestriction?: string
  readonly identified?: true
  readonly allowCraftsman?: true
  readonly elements?: readonly string[]
  readonly requirements: Readonly<Record<string, number | string | readonly string[]>>
  readonly powderSlots?: number
  readonly majorIds?: Readonly<Record<string, string>>
  readonly lore?: string
  readonly sets?: readonly string[]
  readonly dropMeta?: DropMeta
  readonly identifications?: Stats
  readonly base?: Stats
  readonly consumableOnlyIDs?: Readonly<Record<string, number>>
  readonly ingredientPositionModifiers?: Readonly<Record<string, number>>
  readonly itemOnlyIDs?: Readonly<Record<string, number>>
  readonly droppedBy?: readonly Source[]
  readonly chances?: Readonly<Record<string, number>>
}

export interface Span {
  readonly maximum: number
  readonly minimum: number
}

export interface Sprite {
  readonly format: 'attribute'
  readonly name: string
  readonly value: { readonly customModelData: ModelNumbers; readonly id: string; readonly name: string }
}

export interface Recipe {
  readonly internalName: string
  readonly type: string
  readonly skill: string
  readonly level: Span
  readonly materials: readonly { readonly amount: number; readonly item: string }[]
  readonly xp: number
  /** Empty on jewelry. */
  readonly healthOrDamage: Span | Readonly<Record<string, never>>
  readonly durability?: Span
  readonly duration?: Span
  readonly basicDuration?: Span
  readonly sprites: Readonly<Record<string, Sprite>>
}

export interface ItemSet {
  readonly internalName: string
  readonly bonuses: Readonly<
    Record<string, { readonly major: readonly string[]; readonly minor: Readonly<Record<string, number>> }>
  >
  /** Display names; their order changes from answer to answer. */
  readonly parts: readonly string[]
}

/** Everything the item routes serve; metadata is computed from it. */
export interface ItemWorld {
  readonly items: readonly Item[]
  readonly recipes: readonly Recipe[]
  /** By name as shown; `internalName` inside is the same in lower case. */
  readonly sets: Readonly<Record<string, ItemSet>>
}
