"""Perfetto's trace processor from Python, without a network at the time of use.

The official package (PyPI: perfetto) speaks to a binary that it downloads when it is first used,
from a place that not every machine may reach. Its messages are the same for the WebAssembly build
that Perfetto's user interface runs, so that one is used here, under Node (bridge.js).
"""

import pathlib
import struct
import subprocess

from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

CHUNK_BYTES = 1 << 20


class Processor:
    """A trace, loaded, and ready for SQL."""

    def __init__(self, trace, engine):
        """trace: the file; engine: the folder with trace_processor.wasm."""
        self.protos = ProtoFactory(PlatformDelegate())
        self.seq = 0
        bridge = pathlib.Path(__file__).with_name("bridge.js")
        self.node = subprocess.Popen(
            ["node", str(bridge), str(engine)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        method = self.protos.TraceProcessorRpc
        with open(trace, "rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                for reply in self._call(method.TPM_APPEND_TRACE_DATA, append_trace_data=chunk):
                    self._refuse(reply.append_result.error)
        for reply in self._call(method.TPM_FINALIZE_TRACE_DATA):
            self._refuse(reply.finalize_data_result.error)

    def query(self, sql):
        """The rows, as dictionaries."""
        method = self.protos.TraceProcessorRpc
        names, batches = [], []
        for reply in self._call(method.TPM_QUERY_STREAMING, query_args=self.protos.QueryArgs(sql_query=sql)):
            self._refuse(reply.query_result.error)
            names = names or list(reply.query_result.column_names)
            batches.extend(reply.query_result.batch)
        rows = QueryResultIterator(names, batches)
        return [{name: getattr(row, name) for name in names} for row in rows]

    def close(self):
        self.node.stdin.close()
        self.node.stdout.close()
        self.node.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @staticmethod
    def _refuse(error):
        if error:
            raise RuntimeError(f"the trace processor says: {error}")

    def _call(self, method, **arguments):
        """Sends one request and returns all answers to it."""
        stream = self.protos.TraceProcessorRpcStream()
        request = stream.msg.add(seq=self.seq, request=method)
        self.seq += 1
        for name, value in arguments.items():
            if isinstance(value, bytes):
                setattr(request, name, value)
            else:
                getattr(request, name).CopyFrom(value)
        data = stream.SerializeToString()
        self.node.stdin.write(struct.pack("<I", len(data)) + data)
        self.node.stdin.flush()
        received = b""
        while block := self._block():
            received += block
        answers = self.protos.TraceProcessorRpcStream()
        answers.ParseFromString(received)
        for reply in answers.msg:
            self._refuse(reply.fatal_error)
        return list(answers.msg)

    def _block(self):
        head = self.node.stdout.read(4)
        if len(head) < 4:
            raise RuntimeError("the trace processor ended early; its last words are above")
        return self.node.stdout.read(struct.unpack("<I", head)[0])
