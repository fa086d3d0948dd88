import { partitionOf } from '../../shared/contract/partitioner.ts'
import type { NewRecord } from '../../shared/journal/journal.ts'
import type { Slice } from './batcher.ts'
import type { BatchLimits } from './partition-queues.ts'
import type { Publication } from './publication.ts'

/** A slice in the making, with the places of its records among the publications. */
export interface PlacedSlice extends Slice {
  readonly records: NewRecord[]
  readonly places: number[]
  bytes: number
}

/**
 * The publications of one request, in their order, cut into as few slices as the limits allow: for each partition its own, and
 * one for those that may go to any.
 */
export function cutSlices(
  topic: string,
  publications: readonly Publication[],
  partitions: number,
  limits: BatchLimits,
): readonly PlacedSlice[] {
  const slices: PlacedSlice[] = []
  const growing: PlacedSlice[] = []
  for (const [place, { record, bytes, routeBy }] of publications.entries()) {
    const partition = routeBy === null ? null : partitionOf(routeBy, partitions)
    // Those for any partition stand behind those for the last one.
    const index = partition ?? partitions
    let slice = growing[index]
    if (slice === undefined || !hasRoom(slice, bytes, limits)) {
      slice = { topic, partition, records: [], places: [], bytes: 0 }
      slices.push(slice)
      growing[index] = slice
    }
    slice.records.push(record)
    slice.places.push(place)
    slice.bytes += bytes
  }
  return slices
}

const hasRoom = (slice: PlacedSlice, bytes: number, { batchRecordsMax, batchBytesMax }: BatchLimits): boolean =>
  slice.records.length < batchRecordsMax && slice.bytes + bytes <= batchBytesMax
