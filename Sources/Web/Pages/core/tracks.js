/** The kinds that the child sends in this session. */
function received(connection) {
  const transceivers = connection.getTransceivers();
  const sent = transceivers.filter(({ currentDirection }) => /recv/.test(currentDirection ?? ""));
  // While the answer is being applied, no direction is agreed yet.
  return (sent.length > 0 ? sent : transceivers).map(({ receiver }) => receiver.track);
}

/**
 * Puts the tracks that a connection receives into the streams, and takes out those of the connection before.
 * @param {RTCPeerConnection} connection
 * @param {{video: MediaStream, audio: MediaStream}} streams
 */
export function showTracks(connection, streams) {
  const tracks = received(connection);
  for (const [kind, stream] of Object.entries(streams)) {
    const wanted = tracks.filter((track) => track.kind === kind);
    for (const track of wanted) if (!stream.getTracks().includes(track)) stream.addTrack(track);
    for (const track of stream.getTracks()) if (!wanted.includes(track)) stream.removeTrack(track);
  }
}
