package io.postroom.sink.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressGuardTest {
    private final AddressGuard closed = new AddressGuard(List.of(), true);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0",
                "0.1.2.3",
                "10.0.0.1",
                "10.255.255.255",
                "100.64.0.1",
                "100.127.255.255",
                "127.0.0.1",
                "127.255.255.254",
                "169.254.0.1",
                "169.254.169.254",
                "169.254.170.2",
                "168.63.129.16",
                "100.100.100.200",
                "172.16.0.1",
                "172.31.255.255",
                "192.0.0.1",
                "192.0.0.192",
                "192.0.2.1",
                "192.88.99.1",
                "192.168.0.1",
                "198.18.0.1",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                "::",
                "::1",
                "::127.0.0.1",
                "::ffff:10.0.0.1",
                "::ffff:127.0.0.1",
                "64:ff9b::a00:1",
                "64:ff9b::7f00:1",
                "64:ff9b:1::1",
                "100::1",
                "2001::1",
                "2001:0:4136:e378:8000:63bf:3fff:fdd2",
                "2001:2::1",
                "2001:10::1",
                "2001:20::1",
                "2001:db8::1",
                "2002:7f00:1::",
                "2002:c0a8:101::1",
                "3fff::1",
                "5f00::1",
                "fc00::1",
                "fd00::1",
                "fd00:ec2::254",
                "fd20:ce::254",
                "fe80::1",
                "fec0::1",
                "ff02::1",
                "4000::1",
                "e000::1"
            })
    void refusesWhatIsNotPublic(String address) throws Exception {
        assertThat(closed.objection(InetAddress.getByName(address))).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.1.1.1",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "2001:200::1",
                "2606:4700:4700::1111",
                "2a00:1450::1",
                "3ffe::1"
            })
    void letsPublicAddressesThrough(String address) throws Exception {
        assertThat(closed.objection(InetAddress.getByName(address))).isNull();
    }

    /** The JDK turns mapped addresses into IPv4 where they are parsed; a resolver need not. */
    @Test
    void refusesAMappedAddressThatStayedIpv6() throws Exception {
        byte[] mapped = new byte[16];
        mapped[10] = mapped[11] = (byte) 0xff;
        mapped[12] = 8;
        mapped[13] = mapped[14] = mapped[15] = 8;
        assertThat(closed.objection(Inet6Address.getByAddress("x", mapped, -1))).isNotNull();
    }

    @Test
    void opensWhatIsAllowedAndNothingElse() throws Exception {
        AddressGuard guard = new AddressGuard(AddressRange.parseAll("10.1.0.0/16", "fd12::/16", "127.0.0.1"), true);
        assertThat(guard.objection(InetAddress.getByName("10.1.2.3"))).isNull();
        assertThat(guard.objection(InetAddress.getByName("fd12::9"))).isNull();
        assertThat(guard.objection(InetAddress.getByName("127.0.0.1"))).isNull();
        assertThat(guard.objection(InetAddress.getByName("10.2.0.1"))).contains("10.2.0.1 is not a public address");
        assertThat(guard.objection(InetAddress.getByName("127.0.0.2"))).isNotNull();
        assertThat(guard.objection(InetAddress.getByName("fd13::9"))).isNotNull();
    }

    @Test
    void keepsCloudCredentialsClosedInAnAllowedRange() throws Exception {
        AddressGuard guard = new AddressGuard(AddressRange.parseAll("169.254.0.0/16", "fd00::/8"), true);
        assertThat(guard.objection(InetAddress.getByName("169.254.1.1"))).isNull();
        assertThat(guard.objection(InetAddress.getByName("169.254.169.254"))).contains("cannot be allowed");
        assertThat(guard.objection(InetAddress.getByName("fd00:ec2::254"))).contains("cannot be allowed");
    }

    @Test
    void sendsWithoutTlsOnlyToWhatIsAllowed() throws Exception {
        AddressGuard guard = new AddressGuard(AddressRange.parseAll("10.0.0.0/8"), false);
        assertThat(guard.objection(InetAddress.getByName("10.0.0.1"))).isNull();
        assertThat(guard.objection(InetAddress.getByName("1.1.1.1"))).contains("without TLS");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "10.0.0.0/33",
                "10.0.0.0/-1",
                "10.0.0.0/",
                "10.0.0.0/8/8",
                "10.1.0.0/8",
                "10/8",
                "010.0.0.0/8",
                "0x0a.0.0.0/8",
                "localhost",
                "example.com/8",
                "fd00::/129",
                "fd00::1/8",
                "::ffff:10.0.0.0/104",
                "fe80::%eth0/10",
                "1.2.3.4.5",
                "1.2.3.",
                ":",
                "[::1]"
            })
    void readsNoRangeThatIsUnclear(String range) {
        assertThatThrownBy(() -> AddressRange.parse(range)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void saysHowARangeIsMeant() {
        assertThatThrownBy(() -> AddressRange.parse("10.1.2.3/8"))
                .hasMessage("range 10.1.2.3/8 has bits set behind its prefix; did you mean 10.0.0.0/8?");
    }
}
