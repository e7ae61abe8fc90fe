import { describe, expect, test } from 'vitest'
import { readListing } from '../../src/api/read-listing.ts'
import { itemVocabulary, parseItem, parseItemMetadata, parseItemSet } from '../../src/api/schemas/items.ts'
import { parseRecipe, recipeVocabulary } from '../../src/api/schemas/recipes.ts'
import { documentedExample, hasRecordings, recordedBelow } from '../support/recorded.ts'

const values = (body: unknown): unknown[] => Object.values(body as Record<string, unknown>)

if (!hasRecordings) {
  test.skip('the recorded bodies are parsed (skipped: recorded data absent)')
} else {
  describe('recorded bodies', () => {
    test('every item of 2025 and 2026 is understood and loses no field', () => {
      for (const { body } of recordedBelow('/item/database')) {
        const { records, whole } = readListing(body())
        expect(whole).toBe(true)
        for (const record of records) expect(parseItem(record)).toEqual(record)
      }
    })

    test('6,616 items are parsed in under 300 ms', () => {
      const records = readListing(recordedBelow('/item/database')[0]?.body()).records
      expect(records).toHaveLength(6616)
      for (const record of records.slice(0, 500)) parseItem(record)
      const rounds = [1, 2, 3].map(() => {
        const start = performance.now()
        for (const record of records) parseItem(record)
        return performance.now() - start
      })
      expect(Math.min(...rounds)).toBeLessThan(300)
    })

    test('the vocabulary knows every name of the first state of 2026', () => {
      const items = readListing(recordedBelow('/item/database')[0]?.body()).records.map(parseItem)
      const unknownTo = (names: readonly string[], found: (item: (typeof items)[number]) => unknown) => {
        const present = items.flatMap(found).filter((name) => name !== undefined && name !== null)
        return [...new Set(present)].filter((name) => !names.includes(String(name)))
      }
      expect(unknownTo(itemVocabulary.type, (item) => item.type)).toEqual([])
      expect(unknownTo(itemVocabulary.subType, (item) => item.subType)).toEqual([])
      expect(unknownTo(itemVocabulary.tier, (item) => item.tier)).toEqual([])
      expect(unknownTo(itemVocabulary.attackSpeed, (item) => item.attackSpeed)).toEqual([])
      expect(unknownTo(itemVocabulary.restriction, (item) => item.restriction)).toEqual([])
      expect(unknownTo(itemVocabulary.dropRestriction, (item) => item.dropRestriction)).toEqual([])
      expect(unknownTo(itemVocabulary.elements, (item) => item.elements)).toEqual([])
      expect(unknownTo(itemVocabulary.classRequirement, (item) => item.requirements?.classRequirement)).toEqual([])
      expect(unknownTo(itemVocabulary.skills, (item) => item.requirements?.skills)).toEqual([])
      expect(unknownTo(itemVocabulary.dropMetaType, (item) => item.dropMeta?.type)).toEqual([])
      expect(unknownTo(itemVocabulary.iconFormat, (item) => item.icon?.format)).toEqual([])
    })

    test('every recipe is understood, its names are known, and the failed answer of May reads as nothing', () => {
      const counts = recordedBelow('/item/recipe/database').map(({ body }) => {
        const { records } = readListing(body(), 'internalName')
        for (const record of records) {
          const recipe = parseRecipe(record)
          expect(recipe).toEqual(record)
          expect(recipeVocabulary.type).toContain(recipe.type)
          expect(recipeVocabulary.skill).toContain(recipe.skill)
        }
        return records.length
      })
      expect(counts).toEqual([0, 720, 720])
    })

    test('every item set is understood', () => {
      for (const { body } of recordedBelow('/item/sets'))
        for (const set of values(body())) expect(parseItemSet(set)).toEqual(set)
    })

    test('item metadata is understood with and without static', () => {
      const bodies = [
        ...recordedBelow('/item/metadata').map(({ body }) => body()),
        documentedExample('item-metadata.json'),
      ]
      for (const body of [...bodies, documentedExample('item-metadata-static.json')])
        expect(parseItemMetadata(body)).toEqual(body)
    })

    test('the search page keeps its controller', () => {
      const listing = readListing(recordedBelow('/item/search')[0]?.body())
      expect(listing.controller).toMatchObject({ count: 123, pages: 7, next: 2 })
      for (const record of listing.records) parseItem(record)
    })

    test('the examples of the documentation are understood', () => {
      for (const name of ['item-database.json', 'item-search.json', 'item-search-quick.json'])
        for (const record of readListing(documentedExample(name)).records) parseItem(record)
      for (const name of ['recipe-database.json', 'recipe-search.json'])
        for (const record of readListing(documentedExample(name), 'internalName').records) parseRecipe(record)
      for (const set of values(documentedExample('item-sets.json'))) parseItemSet(set)
    })
  })
}
