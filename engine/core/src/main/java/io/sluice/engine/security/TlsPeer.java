package io.sluice.engine.security;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import javax.security.auth.x500.X500Principal;

/**
 * The peer as a TLS handshake has shown it.
 *
 * @param binding bytes that only the two sides of this handshake know: a relay between two handshakes has two
 *     (RFC 9266, with a label of this protocol)
 * @param subject of the peer's certificate
 * @param names its subject alternative names, as far as they are text
 */
public record TlsPeer(byte[] binding, String subject, List<String> names) {
    private static final String LABEL = "EXPORTER-sluice-1";
    private static final int BINDING_BYTES = 32;
    // RFC 5280, 4.2.1.6: mail, DNS, URI, address
    private static final List<Integer> TEXT_KINDS = List.of(1, 2, 6, 7);

    static TlsPeer of(SSLSession session) throws SSLException {
        if (!(session.getPeerCertificates()[0] instanceof X509Certificate certificate)
                || !(session instanceof ExtendedSSLSession extended)) {
            throw new SSLException("the TLS provider supplies neither certificates nor keying material");
        }
        try {
            return new TlsPeer(
                    extended.exportKeyingMaterialData(LABEL, new byte[0], BINDING_BYTES),
                    certificate.getSubjectX500Principal().getName(X500Principal.RFC2253),
                    names(certificate));
        } catch (UnsupportedOperationException e) {
            throw new SSLException("the TLS provider has no exporters, which bind sessions to it", e);
        }
    }

    private static List<String> names(X509Certificate certificate) throws SSLException {
        try {
            Collection<List<?>> all = certificate.getSubjectAlternativeNames();
            List<String> names = new ArrayList<>();
            for (List<?> name : all == null ? List.<List<?>>of() : all) {
                if (name.get(0) instanceof Integer kind
                        && TEXT_KINDS.contains(kind)
                        && name.get(1) instanceof String text) {
                    names.add(text);
                }
            }
            return List.copyOf(names);
        } catch (CertificateParsingException e) {
            throw new SSLException("the names of the peer's certificate are damaged", e);
        }
    }
}
