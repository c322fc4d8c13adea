/** The sealed log: checkpoints, tiles, proofs. */
import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { answer, plain, read, recordCodes, refusals, requestId, scopedCodes } from '#libs/base/http/openapi';
import { checkpoint, verifierKey } from '#libs/base/terms/example-names';
import { domainPath } from '#libs/base/terms/parameters';
import { logQuery, recordPath } from '#libs/record/contract';
import { consistency, consistencyQuery, entryPath, proofBundle } from './contract.ts';
import * as examples from './examples.ts';

/** Groups of three digits are segments of their own, so it may have slashes, which are not escaped. */
const tile = z.string().meta({
  description:
    'number in groups of three digits, all but the last with `x` (`x001/234`); a partial tile has its width (`000.p/17`)',
  example: '000',
});

export const proofPaths: ZodOpenApiPathsObject = {
  '/v1/consent/{domainId}/records/{recordId}/proof': {
    get: read({
      operationId: 'getProof',
      summary: 'Proof that a record is in the log, against its newest checkpoint',
      description:
        '`Accept: text/plain` gets a C2SP tlog-proof. `Accept: application/json` gets a bundle with everything that a check without this service needs.',
      tags: ['Log'],
      requestParams: { path: recordPath, query: logQuery },
      responses: {
        200: {
          description: 'The proof: a C2SP tlog-proof, or as JSON with all that the entry commits to',
          headers: z.object({ 'X-Request-Id': requestId }),
          content: {
            'text/plain': { schema: z.string(), example: examples.proofText },
            'application/json': { schema: proofBundle, example: examples.proofBundle },
          },
        },
        ...refusals(...scopedCodes, ...recordCodes, 'not_found', 'not_sealed_yet', 'expired', 'not_configured'),
      },
    }),
  },
  '/v1/consent/{domainId}/log/checkpoint': {
    get: read({
      operationId: 'getCheckpoint',
      summary: 'The newest signed size and root of the log',
      description: 'Keep checkpoints outside the service: they show later that nothing was changed or removed since.',
      tags: ['Log'],
      requestParams: { path: domainPath, query: logQuery },
      responses: {
        200: plain('A C2SP signed note', 'text/plain', checkpoint, {
          'Last-Modified': z.string().meta({ description: 'when it was signed' }),
        }),
        ...refusals(...scopedCodes, 'domain_not_found', 'not_found'),
      },
    }),
  },
  '/v1/consent/{domainId}/log/key': {
    get: read({
      operationId: 'getVerifierKeys',
      summary: 'Every key that ever signed for the log, newest first, a line each',
      description: 'Checkpoints and proofs are verified with these keys.',
      tags: ['Log'],
      requestParams: { path: domainPath, query: logQuery },
      responses: {
        200: plain('C2SP verifier keys', 'text/plain', `${verifierKey}\n`),
        ...refusals(...scopedCodes, 'domain_not_found', 'not_found'),
      },
    }),
  },
  '/v1/consent/{domainId}/log/consistency': {
    get: read({
      operationId: 'getConsistency',
      summary: 'Proof that the log only grew between two sizes',
      description:
        '`from` and `to` are the sizes of two checkpoints. The proof shows that the larger log begins with the smaller one.',
      tags: ['Log'],
      requestParams: { path: domainPath, query: consistencyQuery },
      responses: {
        200: answer('The proof', consistency, examples.consistency),
        ...refusals(...scopedCodes, 'domain_not_found', 'not_found'),
      },
    }),
  },
  '/v1/consent/{domainId}/log/entries/{position}/proof': {
    get: read({
      operationId: 'getEntryProof',
      summary: 'Proof that an entry is in the log',
      description: 'Of any entry, also of an erasure or a notice, whose position the feed has.',
      tags: ['Log'],
      requestParams: { path: entryPath, query: logQuery },
      responses: {
        200: plain('A C2SP tlog-proof', 'text/plain', examples.proofText),
        ...refusals(
          ...scopedCodes,
          'domain_not_found',
          'plan_feature_required',
          'not_found',
          'not_sealed_yet',
          'expired',
        ),
      },
    }),
  },
  // before hash tiles, whose path it also is
  '/v1/consent/{domainId}/log/tile/entries/{tile}': {
    get: read({
      operationId: 'getEntries',
      summary: 'Entries of the log, up to 256 in a bundle',
      description:
        'For auditors who build the tree themselves. Bundle 1234 is `x001/234`; the first 17 entries of bundle 0 are `000.p/17`.',
      tags: ['Log'],
      requestParams: { path: domainPath.extend({ tile }), query: logQuery },
      responses: {
        200: plain('A C2SP tlog-tiles entry bundle', 'application/octet-stream', examples.bytes),
        ...refusals(...scopedCodes, 'domain_not_found', 'plan_feature_required', 'not_found', 'expired'),
      },
    }),
  },
  '/v1/consent/{domainId}/log/tile/{level}/{tile}': {
    get: read({
      operationId: 'getTile',
      summary: 'Hashes of the log, up to 256 in a tile',
      description:
        'For auditors who build the tree themselves. Tile 1234 is `x001/234`; the first 17 hashes of tile 0 are `000.p/17`. A full tile never changes.',
      tags: ['Log'],
      requestParams: {
        path: domainPath.extend({ level: z.int().min(0).max(63).meta({ example: 0 }), tile }),
        query: logQuery,
      },
      responses: {
        200: plain('A C2SP tlog-tiles tile', 'application/octet-stream', examples.bytes, {
          'Cache-Control': z.string().meta({ description: 'a full tile never changes' }),
        }),
        ...refusals(...scopedCodes, 'domain_not_found', 'not_found'),
      },
    }),
  },
};
